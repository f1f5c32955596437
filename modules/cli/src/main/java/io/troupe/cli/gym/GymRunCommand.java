package io.troupe.cli.gym;

import io.troupe.aws.bedrock.BedrockAccess;
import io.troupe.base.build.BuildInfo;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.files.PrivateFiles;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.gym.config.GymConfig;
import io.troupe.gym.config.ModelSection;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.model.HttpModel;
import io.troupe.gym.model.ModelSettings;
import io.troupe.gym.model.RequestAuthorization;
import io.troupe.gym.session.GymComparison;
import io.troupe.gym.session.GymEstimate;
import io.troupe.gym.session.GymFolder;
import io.troupe.gym.session.GymJournal;
import io.troupe.gym.session.GymParts;
import io.troupe.gym.session.GymSession;
import io.troupe.gym.student.Students;
import io.troupe.run.task.InvalidVerifierException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe gym run}: carries out the trials of a gym. */
@Command(
    name = "run",
    description = {
      "Carries out the trials of a gym: base student, then rounds of making rows, training and"
          + " validating, then one test. ^C ends it after the work at hand, and --resume continues,"
          + " also after a crash: nothing is generated, trained or paid twice."
    },
    footer = {
      "",
      "Exit codes: 0 done · 2 bad usage or configuration · 4 failed, with everything kept ·"
          + " 130, 143 interrupted",
      "",
      "Examples:",
      "  troupe gym run conf/gym-arithmetic.yaml --dry-run",
      "  troupe gym run conf/gym-arithmetic.yaml",
      "  troupe gym run --resume gyms/gym-arithmetic-20261123-054500"
    })
final class GymRunCommand extends CliCommand {
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

  @Parameters(arity = "0..1", paramLabel = "FILE", description = "Configuration of the gym.")
  private @Nullable Path file;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key.")
  private List<String> overrides = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      description = "Folder of the gym, a new one; default gyms/NAME-DATE-TIME.")
  private @Nullable Path output;

  @Option(names = "--resume", paramLabel = "DIR", description = "Continues the gym in DIR.")
  private @Nullable Path resume;

  @Option(
      names = "--dry-run",
      description = "Prints what would be done, asked and paid at most, and does nothing.")
  private boolean dryRun;

  @Override
  public Integer call() throws IOException, InvalidVerifierException {
    if ((file == null) == (resume == null)) {
      throw bad("give FILE, or --resume DIR");
    }
    if (resume != null && (!overrides.isEmpty() || output != null)) {
      throw bad("--resume continues with the configuration of its folder; leave out --set and -o");
    }
    ResolvedConfig<GymConfig> config =
        resume == null
            ? GymConfig.load(Objects.requireNonNull(file), overrides)
            : GymConfig.load(existing(resume).resolved(), List.of());
    if (dryRun) {
      GymFolder nothing = new GymFolder(Path.of(""));
      try (GymTask task = GymParts.task(config.config(), nothing)) {
        say(new GymEstimate(config.config(), task).text());
      }
      return ExitCode.OK.code();
    }
    Optional<AskedModel> model = model(config.config().model());
    AtomicReference<Optional<Students>> students = new AtomicReference<>(Optional.empty());
    Signals signals =
        Signals.install(
            _ -> {
              say("ending after the work at hand; ^C again ends at once");
              students.get().ifPresent(Students::stop);
            },
            number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    GymFolder folder = resume == null ? create(config) : existing(resume);
    say("gym " + folder.path());
    try (Students made = GymParts.students(config.config(), this::say)) {
      students.set(Optional.of(made));
      return run(config.config(), model, made, folder, signals);
    }
  }

  /** A language model and what authorises its requests. */
  private record AskedModel(ModelSettings settings, RequestAuthorization authorization) {
    HttpModel open() {
      return new HttpModel(settings, authorization, Thread::sleep);
    }
  }

  private Optional<AskedModel> model(ModelSection section) {
    if (!section.writes()) {
      return Optional.empty();
    }
    Optional<String> key = apiKey(section);
    if (section.provider() != ModelSection.Provider.BEDROCK) {
      ModelSettings settings = section.settings(URI.create(section.url()), key);
      return Optional.of(new AskedModel(settings, RequestAuthorization.byKey(settings)));
    }
    BedrockAccess bedrock = BedrockAccess.byDefault();
    try {
      URI address = section.url().isEmpty() ? bedrock.address() : URI.create(section.url());
      ModelSettings settings = section.settings(address, key);
      return Optional.of(
          new AskedModel(
              settings, key.isEmpty() ? bedrock::headers : RequestAuthorization.byKey(settings)));
    } catch (IllegalArgumentException noRegion) {
      throw bad(String.valueOf(noRegion.getMessage()));
    }
  }

  private int run(
      GymConfig config,
      Optional<AskedModel> asked,
      Students students,
      GymFolder folder,
      Signals signals)
      throws IOException, InvalidVerifierException {
    GymPlan plan = config.plan();
    try (GymTask task = GymParts.task(config, folder);
        GymJournal journal = GymJournal.open(folder.journal(), plan, Clock.systemUTC())) {
      if (asked.isEmpty()) {
        return run(plan, GymParts.of(config, students, task), folder, journal, signals);
      }
      try (HttpModel model = asked.get().open()) {
        return run(
            plan,
            GymParts.of(config, students, task, folder, journal, model),
            folder,
            journal,
            signals);
      }
    }
  }

  private Optional<String> apiKey(ModelSection section) {
    if (section.keyVariable().isEmpty()) {
      return Optional.empty();
    }
    Optional<String> key = Optional.ofNullable(System.getenv(section.keyVariable()));
    if (key.filter(text -> !text.isBlank()).isEmpty()) {
      throw bad(
          "model.key_variable names the environment variable %s, which is not set"
              .formatted(section.keyVariable()));
    }
    return key;
  }

  private int run(
      GymPlan plan, GymSession.Parts parts, GymFolder folder, GymJournal journal, Signals signals)
      throws IOException {
    GymSession session = new GymSession(plan, parts, folder, journal, this::say);
    boolean done = session.run(() -> signals.received().isPresent());
    if (!done) {
      OptionalInt signal = signals.received();
      say("interrupted; everything is kept in %s, and --resume continues".formatted(folder.path()));
      return ExitCode.ofSignal(signal.orElseThrow());
    }
    say("");
    say(new GymComparison(plan, folder, parts.task().test(), journal.state()).text());
    return ExitCode.OK.code();
  }

  private GymFolder create(ResolvedConfig<GymConfig> config) throws IOException {
    String name =
        String.valueOf(Objects.requireNonNull(file).getFileName()).replaceAll("\\.ya?ml$", "");
    Path path =
        output == null
            ? Path.of("gyms", name + "-" + STAMP.format(LocalDateTime.now(ZoneId.systemDefault())))
            : output;
    try {
      Files.createDirectories(path.toAbsolutePath().resolveSibling("."));
      PrivateFiles.newFolder(path);
    } catch (FileAlreadyExistsException there) {
      throw new IOException(
          "%s exists; continue it with --resume, or name another folder".formatted(path), there);
    }
    GymFolder folder = new GymFolder(path);
    Files.copy(Objects.requireNonNull(file), path.resolve("config.yaml"));
    AtomicFile.replace(
        path.resolve("gym.json"),
        "{\"format\":1,\"troupe\":\"%s\"}%n".formatted(BuildInfo.version()));
    AtomicFile.replace(folder.resolved(), config.yaml());
    return folder;
  }

  private GymFolder existing(Path path) {
    if (!Files.isRegularFile(new GymFolder(path).resolved())) {
      throw bad("%s is no folder of a gym: it has no resolved.yaml; look in gyms/".formatted(path));
    }
    return new GymFolder(path);
  }

  private void say(String line) {
    var out = out();
    out.println(line);
    out.flush();
  }

  private CommandLine.ParameterException bad(String message) {
    return refused(message);
  }
}
