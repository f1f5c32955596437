package io.troupe.cli;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.cli.command.CliCommand;
import io.troupe.config.RunConfig;
import io.troupe.config.policy.PolicySection;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.http.sidecar.ServerCommand;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.TemplateFormats;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.run.model.ModelCache;
import io.troupe.runtime.TrainerTasks;
import io.troupe.serve.PolicyServer;
import io.troupe.serve.ServeSettings;
import io.troupe.serve.model.AdapterCapacity;
import io.troupe.serve.model.ServedModel;
import io.troupe.serve.model.ServedWeights;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe serve}: answers over HTTP with a checkpoint's or a run's policy. */
@Command(
    name = "serve",
    description = {
      "Serves a policy over OpenAI's HTTP interface: /v1/completions and /v1/chat/completions, with"
          + " streams, log-probabilities and token ids; docs/sidecars.md lists all routes.",
      "Agents find tools in /v1/chat/completions, OpenAI's /v1/responses and Anthropic's"
          + " /v1/messages; docs/episodes.md.",
      "With --config it has no weights before POST /update_weights_from_disk gives it some, unless"
          + " --max-adapters has it load policy.checkpoint."
    },
    footer = {
      "",
      "Examples:",
      "  troupe serve quickstart-20261121-140200 --port 8000",
      "  troupe serve --checkpoint models/Qwen3-0.6B --port 8000",
      "",
      "^C or SIGTERM ends it."
    })
final class ServeCommand extends CliCommand {
  private static final String MODEL = "policy";

  /** Digits of a digest that a model's name shows. */
  private static final int DIGITS = 16;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "RUN",
      description = "Folder or name of a run, whose newest checkpoint is served.")
  private @Nullable String run;

  @Option(
      names = "--checkpoint",
      paramLabel = "DIR",
      description = "A Hugging Face checkpoint of the Qwen3, Qwen2 or Llama 3 family.")
  private @Nullable Path checkpoint;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Configuration of a run, whose policy is served.")
  private @Nullable Path config;

  @Option(names = "--host", description = "Address to listen on (default: ${DEFAULT-VALUE}).")
  private String host = "127.0.0.1";

  @Option(
      names = "--port",
      description = "Port to listen on; 0 takes any that is free (default: ${DEFAULT-VALUE}).")
  private int port = 8000;

  @Option(
      names = "--api-key-file",
      paramLabel = "FILE",
      description =
          "File with the key that requests must carry; needed beyond 127.0.0.1. Without it, the"
              + " variable TROUPE_SERVE_KEY of the environment is the key, if it is set.")
  private @Nullable Path keyFile;

  @Option(
      names = "--sampling-key-file",
      paramLabel = "FILE",
      description =
          "File with a second key, which samples and reads only: it pauses nothing, and changes no"
              + " weights.")
  private @Nullable Path samplingKeyFile;

  @Option(
      names = "--max-requests",
      description = "Requests at a time; more are answered 429 (default: ${DEFAULT-VALUE}).")
  private int maxRequests = 256;

  @Option(
      names = "--context-length",
      paramLabel = "TOKENS",
      description =
          "With --checkpoint: most tokens of prompt and completion together (default:"
              + " ${DEFAULT-VALUE}, or the checkpoint's limit if that is lower).")
  private int contextLength = 4096;

  @Option(
      names = "--threads",
      description = "With --checkpoint: PyTorch's threads (default: ${DEFAULT-VALUE}).")
  private int threads = 1;

  @Option(
      names = "--prompt-logprobs",
      description =
          "Report log-probabilities of a prompt's tokens too, so that it can be a teacher; takes a"
              + " second copy of the weights.")
  private boolean promptLogProbs;

  @Option(
      names = "--thinking",
      paramLabel = "true|false",
      description =
          "Whether the policy thinks before its answers, where a request does not say (default: the"
              + " run's policy.thinking; with --checkpoint false).")
  private @Nullable Boolean thinking;

  @Option(
      names = "--max-adapters",
      paramLabel = "N",
      description =
          "Adapters that POST /v1/load_lora_adapter may load beside the weights, each a copy of all"
              + " weights (default: ${DEFAULT-VALUE}). With --config, policy.checkpoint is served"
              + " under them.")
  private int maxAdapters;

  /** The served model and its weights; no weights if they come later. */
  private record Source(PolicyEngines engines, Optional<Base> weights, Conversation conversation) {}

  /**
   * Weights to begin with.
   *
   * @param ofRun whether they are a version of a run, and not what a run may begin with
   */
  private record Base(Path directory, long version, boolean ofRun) {
    void use(PolicyServer server) throws IOException {
      WeightSnapshot snapshot = ServedWeights.read(directory, new WeightVersion(version));
      if (ofRun) {
        server.use(snapshot);
      } else {
        server.use(snapshot, "checkpoint-" + snapshot.digest().substring(0, DIGITS));
      }
    }
  }

  @Override
  public Integer call() throws Exception {
    long given =
        List.of(run != null, checkpoint != null, config != null).stream().filter(x -> x).count();
    if (given != 1) {
      throw refused("give one of RUN, --checkpoint DIR and --config FILE");
    }
    ServeSettings settings = settings();
    Source source = source();
    CountDownLatch ended = new CountDownLatch(1);
    Signals.install(
        _ -> ended.countDown(), number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    try (PolicyEngines engines = source.engines();
        SamplingEngine engine = engines.newSampler();
        ScoringEngine scorer = scorer(engines);
        PolicyServer server =
            PolicyServer.start(
                new ServedModel(
                    MODEL,
                    engine,
                    engines.tokenizer(),
                    engines.contextLength(),
                    source.conversation(),
                    scorer),
                room(engines),
                source.weights().isPresent() ? settings.awaitingWeights() : settings,
                BuildInfo.version())) {
      if (source.weights().isPresent()) {
        source.weights().get().use(server);
      }
      out()
          .println(
              "serving %s as '%s' on http://%s:%d · %s"
                  .formatted(
                      source
                          .weights()
                          .map(base -> base.directory().toString())
                          .orElse("a policy without weights"),
                      MODEL,
                      host,
                      server.port(),
                      engines.describe()));
      out().flush();
      ended.await();
    }
    return ExitCode.OK.code();
  }

  private AdapterCapacity room(PolicyEngines engines) {
    try {
      return new AdapterCapacity(maxAdapters, engines::newSampler);
    } catch (IllegalArgumentException wrong) {
      throw refused("--max-adapters: " + wrong.getMessage(), wrong);
    }
  }

  private ScoringEngine scorer(PolicyEngines engines) {
    try {
      return promptLogProbs ? engines.newScorer() : ServedModel.withoutScorer();
    } catch (UnsupportedOperationException cannot) {
      throw refused("--prompt-logprobs: " + cannot.getMessage(), cannot);
    }
  }

  private ServeSettings settings() throws IOException {
    String key =
        keyFile == null
            ? Optional.ofNullable(System.getenv(ServerCommand.TROUPE_KEY)).orElse("")
            : Files.readString(keyFile).strip();
    try {
      ServeSettings standard = ServeSettings.loopback(0);
      return new ServeSettings(
          new InetSocketAddress(InetAddress.getByName(host), port),
          new ServeSettings.Keys(
              key, samplingKeyFile == null ? "" : Files.readString(samplingKeyFile).strip()),
          maxRequests,
          standard.maxBodyBytes(),
          standard.ping(),
          standard.awaitsWeights());
    } catch (IllegalArgumentException wrong) {
      throw refused(String.valueOf(wrong.getMessage()), wrong);
    }
  }

  private Source source() throws IOException, RunNotFoundException {
    if (checkpoint != null) {
      return pretrained(checkpoint);
    }
    if (config != null) {
      RunConfig run = RunConfig.load(config, List.of()).config();
      return configured(
          Composition.of(run), maxAdapters > 0 ? Optional.of(base(run)) : Optional.empty());
    }
    RunFolder folder;
    try {
      folder = RunFolder.view(Path.of("runs"), Objects.requireNonNull(run));
    } catch (IOException absent) {
      throw new RunNotFoundException(absent);
    }
    Checkpoint newest =
        Checkpoints.view(folder.checkpoints())
            .list()
            .newest()
            .orElseThrow(
                () ->
                    new IOException(
                        "%s has no checkpoint yet; wait for one, or lower checkpoint.every"
                            .formatted(folder)));
    if (folder.isSupervised()) {
      return pretrained(newest.directory().resolve(TrainerTasks.POLICY_FOLDER));
    }
    return configured(
        Composition.of(RunConfig.load(folder.resolved(), List.of()).config(), folder.checkpoints()),
        Optional.of(new Base(newest.directory().resolve("policy"), newest.step(), true)));
  }

  /** Returns the model below the adapters of a run. */
  private Base base(RunConfig of) throws IOException {
    if (of.policy() instanceof PolicySection.Pretrained pretrained) {
      return new Base(
          ModelCache.of(of.data(), System.err::println).folder(pretrained.checkpoint()), 0, false);
    }
    throw refused(
        "--max-adapters: adapters lie over a checkpoint, and %s has no policy.checkpoint; take policy.engine pretrained, or leave it out"
            .formatted(config));
  }

  private Source configured(Composition composition, Optional<Base> weights) throws IOException {
    PolicyEngines engines = composition.engines();
    Optional<Conversation> conversation =
        thinking == null
            ? composition.conversation()
            : Optional.of(conversation(engines, composition.chatTemplate()));
    return new Source(engines, weights, conversation.orElseGet(ServedModel::withoutTemplate));
  }

  /** Conversations by a template, with the choice of thinking of the command line. */
  private Conversation conversation(
      PolicyEngines engines, Optional<? extends ChatTemplate> template) {
    Thinking chosen = thinking == null ? Thinking.AUTO : Thinking.of(thinking);
    if (template.isPresent()) {
      chosen
          .objection(template.get())
          .ifPresent(
              why -> {
                throw refused("--thinking: " + why);
              });
    } else if (thinking != null) {
      throw refused("--thinking: the policy has no chat template; leave it out");
    }
    return chosen
        .in(template)
        .map(decided -> TemplateFormats.conversation(engines.tokenizer(), decided))
        .orElseGet(ServedModel::withoutTemplate);
  }

  private Source pretrained(Path directory) throws IOException {
    try {
      PretrainedModel opened = PretrainedModel.open(directory);
      PretrainedModel limited =
          opened.withContextLength(Math.min(contextLength, opened.settings().contextLength()));
      DjlPolicy policy =
          DjlPolicy.create(
              limited,
              ComputeSettings.of(1, threads, Math.max(16384, limited.settings().contextLength())));
      Optional<? extends ChatTemplate> template =
          JinjaChatTemplate.read(directory, Clock.system(ZoneId.systemDefault()));
      return new Source(
          policy, Optional.of(new Base(directory, 0, false)), conversation(policy, template));
    } catch (IOException | IllegalArgumentException unfit) {
      throw new UnsupportedPolicyException(
          "--checkpoint: %s%s".formatted(unfit.getMessage(), hint(directory)), unfit);
    }
  }

  /**
   * Returns advice on a checkpoint that lacks a file, such as a tokenizer over its characters,
   * which the run's folder has.
   */
  private static String hint(Path directory) {
    for (Path folder = directory.toAbsolutePath().normalize();
        folder != null;
        folder = folder.getParent()) {
      if (isRun(folder)) {
        return "%nit belongs to a run, which can be served: troupe serve %s".formatted(folder);
      }
    }
    return "";
  }

  private static boolean isRun(Path folder) {
    try {
      RunFolder.view(Objects.requireNonNull(folder.getRoot()), folder.toString());
      return true;
    } catch (IOException noRun) {
      return false;
    }
  }
}
