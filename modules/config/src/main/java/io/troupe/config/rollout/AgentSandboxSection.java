package io.troupe.config.rollout;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.util.List;

/** The walls around processes of an agent. */
public record AgentSandboxSection(
    @Doc(
            "Whether agents run in a sandbox, without a network but the gateway; without one they can"
                + " do what the run's user can.")
        @Default("true")
        boolean enabled,
    @Doc("Folders that agents can read, beside the system's programs: theirs and what they need.")
        List<String> folders,
    @Doc(value = "Data of each process.", unit = "MiB")
        @Default("2048")
        @Range(min = 16, max = 1_048_576)
        int memoryMb,
    @Doc(value = "Processes and threads at a time.", unit = "processes")
        @Default("256")
        @Range(min = 1, max = 65_536)
        int processes,
    @Doc(
            value = "Files of a process of the agent, which lie in `/tmp` and in memory.",
            unit = "MiB")
        @Default("256")
        @Range(min = 1, max = 1_048_576)
        int filesMb) {}
