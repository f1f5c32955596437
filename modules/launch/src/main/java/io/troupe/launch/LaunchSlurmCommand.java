package io.troupe.launch;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.process.ExitCode;
import io.troupe.config.RunConfig;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe launch slurm}: a run as a batch job. */
@Command(
    name = "slurm",
    mixinStandardHelpOptions = true,
    description = {
      "Writes a batch script of Slurm and submits it. Before its time limit the job saves its run"
          + " and queues itself again; it then continues the run.",
      "A job of this name that is queued or runs already is not submitted a second time."
    },
    footer = {
      "",
      "Examples:",
      "  troupe launch slurm conf/16-gpu.yaml --nodes 2 --gpus-per-node 8 --time 24:00:00 --tls"
          + " certs",
      "  troupe launch slurm conf/quickstart.yaml --seeds 4 --dry-run",
      "",
      "Exit codes: 0 submitted, or there already · 2 bad usage or configuration · 4 refused by"
          + " Slurm"
    })
final class LaunchSlurmCommand implements Callable<Integer> {
  private static final long DEFAULT_WARNING = 300;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "Configuration of the run.")
  private @Nullable Path file;

  @Option(names = "--nodes", description = "Hosts. Default ${DEFAULT-VALUE}.")
  private int nodes = 1;

  @Option(names = "--gpus-per-node", description = "GPUs of each host. Default ${DEFAULT-VALUE}.")
  private int gpus;

  @Option(names = "--time", description = "Time limit, as sbatch takes it.")
  private String time = "";

  @Option(
      names = "--warning",
      defaultValue = "300",
      paramLabel = "SECONDS",
      description =
          "Time before the limit at which the run is saved; Slurm may come 60 s earlier. Default"
              + " ${DEFAULT-VALUE}.")
  private long warning = DEFAULT_WARNING;

  @Option(
      names = "--seeds",
      description = "An array of that many jobs, with run.seed 1, 2, … and runs/seed-N.")
  private int seeds = 1;

  @Option(
      names = "--tls",
      paramLabel = "DIR",
      description =
          "Folder of troupe certs, on a file system of all hosts; for more than one host.")
  private String keys = "";

  @Option(names = "--allow-plain-tcp", description = "Hosts speak without keys.")
  private boolean plain;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key of FILE.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = "--sbatch",
      paramLabel = "OPTION",
      description = "Further option of sbatch, such as --sbatch=--partition=gpu.")
  private List<String> more = new ArrayList<>();

  @Option(names = "--dry-run", description = "Print the script; write and submit nothing.")
  private boolean dryRun;

  @Option(names = "--json", description = "One JSON object.")
  private boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path source = Objects.requireNonNull(file).toAbsolutePath().normalize();
    require(nodes >= 1 && seeds >= 1 && gpus >= 0, "--nodes and --seeds must be 1 or greater");
    require(warning >= 0, "--warning must be 0 or greater");
    require(
        nodes == 1 || plain != !keys.isEmpty(),
        "more than one host needs either --tls DIR or --allow-plain-tcp");
    RunConfig.load(source, overrides); // Refused here, and not in hours at the head of the queue.
    String name = "troupe-" + String.valueOf(source.getFileName()).replaceFirst("\\.[^.]+$", "");
    SlurmScript script =
        new SlurmScript(
            name,
            BuildInfo.home().toAbsolutePath().normalize().resolve("troupe").toString(),
            Path.of("").toAbsolutePath().toString(),
            source.toString(),
            new SlurmScript.Shape(nodes, gpus, seeds, absolute(keys)),
            new SlurmScript.Limits(time, Duration.ofSeconds(warning)),
            more,
            overrides);
    if (dryRun) {
      answer(name, "", "", script.text());
      return ExitCode.OK.code();
    }
    return submit(name, script.text());
  }

  private int submit(String name, String text) throws IOException, InterruptedException {
    String queued = ask("squeue", "--me", "--noheader", "--name=" + name, "--format=%i");
    if (!queued.isBlank()) {
      String job = queued.strip().lines().findFirst().orElse("");
      answer(name, job, "", "job %s of this name is queued or runs already".formatted(job));
      return ExitCode.OK.code();
    }
    Path script = Path.of(name + ".sbatch").toAbsolutePath();
    AtomicFile.replace(script, text);
    String job = ask("sbatch", "--parsable", script.toString()).strip().replaceFirst(";.*", "");
    answer(name, job, script.toString(), "job %s, by %s".formatted(job, script));
    return ExitCode.OK.code();
  }

  private static String absolute(String folder) {
    return folder.isEmpty() ? "" : Path.of(folder).toAbsolutePath().normalize().toString();
  }

  private void require(boolean holds, String rule) {
    if (!holds) {
      throw new CommandLine.ParameterException(Objects.requireNonNull(spec).commandLine(), rule);
    }
  }

  /** The output of a program of Slurm. */
  private static String ask(String... command) throws IOException, InterruptedException {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException absent) {
      throw new IOException(
          "%s cannot be run (%s); this is for a host of a Slurm cluster, --dry-run for any"
              .formatted(command[0], absent.getMessage()),
          absent);
    }
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(
          "%s ended with exit code %d: %s"
              .formatted(command[0], process.exitValue(), said.strip()));
    }
    return said;
  }

  private void answer(String name, String job, String script, String text) throws IOException {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("name", name);
    answer.put("job", job);
    answer.put("script", script);
    answer.put("text", text);
    var out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println(json ? StoreJson.LINE.writeValueAsString(answer) : text.stripTrailing());
    out.flush();
  }
}
