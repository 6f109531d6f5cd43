"""What a check has to say."""
import dataclasses


@dataclasses.dataclass
class Findings:
    errors: list = dataclasses.field(default_factory=list)
    warnings: list = dataclasses.field(default_factory=list)
    looked_at: int = 0  # files; a check that looks at none has failed

    def error(self, path, line, message):
        self.errors.append(f"{path}:{line}: {message}")

    def warn(self, path, line, message):
        self.warnings.append(f"{path}:{line}: {message}")
