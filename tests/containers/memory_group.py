"""Control groups that limit memory, of both versions, and a made-up one for machines that let nobody make any."""
import os
import shutil
import tempfile

MOUNT = "/sys/fs/cgroup"


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def number_in(path, key):
    for line in read(path).splitlines():
        if line.split()[0] == key:
            return int(line.split()[1])
    return 0


class Group:
    """A real group of its own below `parent`, for one process."""

    flags = []
    enforced = True

    def __init__(self, parent, limit):
        self.path = os.path.join(parent, f"luce-budget-{os.getpid()}")
        os.mkdir(self.path)
        try:
            self.set_limit(limit)
        except OSError:
            os.rmdir(self.path)
            raise

    def write(self, file, text):
        with open(os.path.join(self.path, file), "w", encoding="ascii") as out:
            out.write(str(text))

    def enter(self):
        """Called in the child, before it becomes the server."""
        self.write("cgroup.procs", os.getpid())

    def close(self):
        os.rmdir(self.path)


class GroupV1(Group):
    kind = "version 1"

    def __init__(self, limit):
        read(f"{MOUNT}/memory/memory.limit_in_bytes")
        super().__init__(os.path.join(MOUNT, "memory"), limit)

    def set_limit(self, limit):
        self.write("memory.limit_in_bytes", limit)

    def peak(self):
        return int(read(f"{self.path}/memory.max_usage_in_bytes"))

    def kills(self):
        return number_in(f"{self.path}/memory.oom_control", "oom_kill")


class GroupV2(Group):
    kind = "version 2"

    def __init__(self, limit):
        if "memory" not in read(f"{MOUNT}/cgroup.controllers").split():
            raise OSError("the memory controller is not of version 2 here")
        with open(f"{MOUNT}/cgroup.subtree_control", "w", encoding="ascii") as control:
            control.write("+memory")
        super().__init__(MOUNT, limit)

    def set_limit(self, limit):
        self.write("memory.max", limit)
        self.write("memory.swap.max", 0)

    def peak(self):
        return int(read(f"{self.path}/memory.peak"))

    def kills(self):
        return number_in(f"{self.path}/memory.events", "oom_kill")


class ToldGroup:
    """Files that tell the server of a limit which nobody enforces; whether it stays within is seen from outside."""

    kind = "told by files"
    enforced = False

    def __init__(self, limit):
        self.root = tempfile.mkdtemp()
        group = self.root + MOUNT + "/pod"
        os.makedirs(group)
        os.makedirs(self.root + "/proc/self")
        shutil.copy("/proc/meminfo", self.root + "/proc/meminfo")
        for path, text in {"/proc/self/cgroup": "0::/pod\n", MOUNT + "/cgroup.controllers": "memory\n",
                           MOUNT + "/pod/memory.max": f"{limit}\n",
                           MOUNT + "/pod/memory.current": f"{18 << 20}\n"}.items():
            with open(self.root + path, "w", encoding="ascii") as file:
                file.write(text)
        self.flags = ["--system-root", self.root]

    def enter(self):
        pass

    def peak(self):
        return 0

    def kills(self):
        return 0

    def close(self):
        shutil.rmtree(self.root)


KINDS = {"v1": [GroupV1], "v2": [GroupV2], "told": [ToldGroup], "auto": [GroupV2, GroupV1, ToldGroup]}


def make_group(kind, limit):
    """The first of its kinds that this machine lets us make."""
    error = None
    for each in KINDS[kind]:
        try:
            return each(limit)
        except OSError as reason:
            error = reason
    raise SystemExit(f"no memory group of kind {kind} can be made here: {error}")
