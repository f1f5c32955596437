package io.troupe.cli.doctor;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.launch.remote.HostDiagnosis;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe doctor}: says what this machine has, and what to do about what it lacks. */
@Command(
    name = "doctor",
    description = {
      "Looks at Java, libtorch and its devices, memory, disk and tools, a line each: ok, warn or"
          + " fail, and what to do next.",
      "Exit code 0 if a run would work, 1 if a line says fail."
    },
    footer = {
      "",
      "Examples:",
      "  troupe doctor --json",
      "  troupe doctor --hosts lab.hosts",
      "  troupe doctor --endpoint http://127.0.0.1:8000 --context-length 4096"
    })
public final class DoctorCommand extends CliCommand {
  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Option(
      names = "--endpoint",
      paramLabel = "URL",
      description = "Look at this inference server instead of the machine.")
  private @Nullable String endpoint;

  @Option(
      names = "--context-length",
      paramLabel = "TOKENS",
      description =
          "With --endpoint: policy.context_length of the run that the server is for; it must hold"
              + " as much.")
  private int contextLength;

  @Option(
      names = "--hosts",
      paramLabel = "FILE",
      description =
          "Look at the hosts of this file instead, over ssh: JDK, clock, space, drivers, ports, and"
              + " which GPUs are free, busy or zombies (memory held, nothing computed).")
  private @Nullable Path hosts;

  @Option(
      names = "--ssh-option",
      paramLabel = "OPTION",
      description = "With --hosts: an option of ssh; may be given many times.")
  private List<String> sshOptions = new ArrayList<>();

  @Option(
      names = "--ports",
      split = ",",
      paramLabel = "PORT",
      defaultValue = "7400,7401,7410,7411",
      description =
          "With --hosts: ports that must be free, and that hosts must reach each other at"
              + " (${DEFAULT-VALUE}).")
  private List<Integer> ports = List.of();

  private final Machine machine;

  DoctorCommand() {
    this(Machine.here());
  }

  DoctorCommand(Machine machine) {
    this.machine = machine;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (hosts != null && endpoint != null) {
      throw refused("give --hosts or --endpoint, not both");
    }
    List<CheckResult> findings = findings();
    boolean sound = MachineChecks.sound(findings);
    PrintWriter out = out();
    CheckLines.print(findings, json, out);
    return (sound ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }

  private List<CheckResult> findings() throws IOException, InterruptedException {
    if (hosts != null) {
      return HostsCheck.findings(HostDiagnosis.of(hosts, sshOptions, ports));
    }
    return endpoint == null
        ? MachineChecks.run(MachineChecks.of(machine))
        : EndpointCheck.look(endpoint, contextLength);
  }
}
