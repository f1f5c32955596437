package io.troupe.config.plan;

import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.config.TaskFacts;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.binding.ResolvedConfig.Value;
import io.troupe.config.policy.DecoderSection;
import io.troupe.config.policy.PolicySection;
import io.troupe.core.loss.LossFormula;
import io.troupe.core.rollout.GroupSize;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The meaning of a configuration, before anything runs.
 *
 * @param resolved every key, its value and its origin
 * @param loss formula of the loss with numbers, line by line
 * @param capacities capacities by the settings
 * @param data data that are left out, and token limits, a sentence each
 * @param memory one estimate; none for the toy engine, whose table needs next to nothing
 * @param gpus memory that processes take of their GPUs; none where no key and no policy asks for
 *     GPUs
 * @param placement role to description; with nodes, a drawing before it
 * @param notes notes on allowed settings
 */
public record Plan(
    ResolvedConfig<RunConfig> resolved,
    List<String> loss,
    Capacities capacities,
    List<String> data,
    List<MemoryEstimate> memory,
    List<GpuMemory> gpus,
    Map<String, String> placement,
    List<String> notes) {

  /**
   * Plans a run.
   *
   * @throws io.troupe.config.binding.ConfigurationException if configuration and task do not go
   *     together
   */
  public static Plan of(ResolvedConfig<RunConfig> resolved, TaskFacts facts) {
    return of(resolved, facts, List.of(), 0);
  }

  /**
   * Plans a run with what was read of its checkpoints.
   *
   * @param checkpoint that the policy starts from; none if it is made on the spot
   * @param teacher parameters of a teacher; 0 without one
   * @throws io.troupe.config.binding.ConfigurationException if configuration, task and checkpoint
   *     do not go together
   */
  public static Plan of(
      ResolvedConfig<RunConfig> resolved,
      TaskFacts facts,
      List<ModelSizes> checkpoint,
      long teacher) {
    resolved.check((config, rules) -> config.check(facts, rules));
    RunConfig config = resolved.config();
    Capacities capacities = Capacities.of(config, facts);
    String formula =
        LossFormula.describe(
            config.lossSettings(),
            config.rollout().completionsPerPrompt(),
            config.training().maxStaleness(),
            config.loss().referenceRefreshEvery());
    Optional<ModelSizes> model = model(config, facts, checkpoint);
    List<MemoryEstimate> memory =
        model.stream()
            .map(
                sizes ->
                    MemoryEstimate.of(
                        sizes,
                        (DecoderSection) config.policy(),
                        teacher,
                        config,
                        facts,
                        capacities))
            .toList();
    return new Plan(
        resolved,
        formula.lines().toList(),
        capacities,
        List.of(),
        memory,
        model
            .flatMap(
                sizes ->
                    GpuDemands.of(
                        config,
                        memory.getFirst(),
                        sizes.keysAndValues(config),
                        capacities.evaluatedPrompts()))
            .stream()
            .toList(),
        placement(config, memory),
        PlanNotes.of(resolved, capacities));
  }

  /** This plan with what the loaded task says of its data. */
  public Plan withData(List<String> lines) {
    return new Plan(resolved, loss, capacities, lines, memory, gpus, placement, notes);
  }

  /** This plan with notes on what was read beside the configuration. */
  public Plan withNotes(List<String> more) {
    List<String> all = Stream.concat(notes.stream(), more.stream()).toList();
    return new Plan(resolved, loss, capacities, data, memory, gpus, placement, all);
  }

  /** The decoder's sizes; none for the toy engine, or where no checkpoint was read. */
  private static Optional<ModelSizes> model(
      RunConfig config, TaskFacts facts, List<ModelSizes> checkpoint) {
    return switch (config.policy()) {
      case PolicySection.Djl djl -> Optional.of(ModelSizes.of(djl, facts.vocabularySize()));
      case PolicySection.Pretrained _ -> checkpoint.stream().findFirst();
      case PolicySection.Toy _ -> Optional.empty();
    };
  }

  private static Map<String, String> placement(RunConfig config, List<MemoryEstimate> memory) {
    Map<String, String> lines =
        new LinkedHashMap<>(config.placement().lines().orElseGet(() -> embedded(config)));
    PlacementSection section = config.placement();
    if (section.trainerRanks() > 1 && section.ranksAs() != PlacementSection.RanksAs.THREADS) {
      memory.forEach(
          estimate -> {
            lines.put(
                "copies",
                !section.rankCopies()
                    ? "none: a lost rank costs the steps since the last saved state"
                        + " (placement.rank_copies)"
                    : "%s of its host's memory for each trainer rank: the state of its piece and its neighbour's, after the last two steps"
                        .formatted(bytes(estimate.copiesOfRank(section.trainerRanks()))));
            lines.put(
                "versions",
                "%s of the coordinator's host's memory (/dev/shm), through which new weights come from the ranks"
                    .formatted(bytes(estimate.versionOfRanks(config.policy().bytesOfNumber()))));
          });
    }
    return lines;
  }

  private static Map<String, String> embedded(RunConfig config) {
    Map<String, String> roles = new LinkedHashMap<>();
    roles.put("coordinator", "1, with journal and metrics");
    switch (config.policy()) {
      case DecoderSection decoder -> {
        roles.put(
            "trainer", "1, PyTorch threads: %d".formatted(decoder.compute().trainerThreads()));
        roles.put(
            "rollout workers",
            "%d, PyTorch threads of each: %d"
                .formatted(config.rollout().workers(), decoder.compute().samplerThreads()));
      }
      case PolicySection.Toy _ -> {
        roles.put("trainer", "1");
        roles.put("rollout workers", Integer.toString(config.rollout().workers()));
      }
    }
    if (config.placement().evaluationGpus() > 0) {
      roles.put("evaluation", "1 process, the watcher of checkpoints, on the CPU");
    }
    roles.put("verifier workers", Integer.toString(config.verifier().workers()));
    roles.put(
        "passes",
        "a completion with a reward of %s or more (verifier.pass_reward)"
            .formatted(number("%s", config.verifier().passReward())));
    return roles;
  }

  /** The plan for a person. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append("plan of ").append(resolved.file()).append("\n\nchosen\n");
    List<Value> chosen = resolved.values().stream().filter(Value::isChosen).toList();
    int keys = chosen.stream().mapToInt(value -> value.path().length()).max().orElse(0);
    int texts = chosen.stream().mapToInt(value -> value.text().length()).max().orElse(0);
    for (Value value : chosen) {
      text.append("  ").append(padded(value.path(), keys + 2));
      text.append(padded(value.text(), texts + 2)).append(value.origin()).append('\n');
    }
    int others = resolved.values().size() - chosen.size();
    text.append("  and %d defaults: docs/configuration.md\n".formatted(others));
    text.append("\nloss\n");
    loss.forEach(line -> text.append("  ").append(line).append('\n'));
    section(text, "capacity", capacityLines());
    if (!data.isEmpty()) {
      text.append("\ndata\n");
      data.forEach(line -> text.append("  - ").append(line).append('\n'));
    }
    memory.forEach(estimate -> section(text, "memory, estimated", memoryLines(estimate)));
    if (knowsGpus() || resolved.config().placement().nodes() > 0) {
      gpus.forEach(each -> section(text, "memory of each GPU, estimated", each.lines()));
    }
    section(text, "placement: " + place(), placement);
    text.append("\nnotes\n");
    notes.forEach(note -> text.append("  - ").append(note).append('\n'));
    return text.toString();
  }

  private String place() {
    PlacementSection section = resolved.config().placement();
    return section.nodes() == 0
        ? "everything in this process"
        : "%d %s of %d GPUs"
            .formatted(
                section.nodes(), section.nodes() == 1 ? "node" : "nodes", section.gpusPerNode());
  }

  /** The plan for a program: names and numbers, ready to be written as JSON. */
  public Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    List<Map<String, String>> values = new ArrayList<>();
    for (Value value : resolved.values()) {
      Map<String, String> one = new LinkedHashMap<>();
      one.put("key", value.path());
      one.put("value", value.text());
      one.put("origin", value.origin().toString());
      values.add(one);
    }
    json.put("file", resolved.file().toString());
    json.put("values", values);
    json.put("loss", loss);
    json.put("capacity", capacities);
    json.put("data", data);
    json.put("memory", memory.isEmpty() ? Map.of() : memory.getFirst());
    json.put("gpus", gpus.isEmpty() ? Map.of() : gpus.getFirst());
    json.put("placement", placement);
    json.put("notes", notes);
    return json;
  }

  private Map<String, String> capacityLines() {
    Capacities c = capacities;
    GroupSize size = resolved.config().rollout().groupSize();
    Map<String, String> lines = new LinkedHashMap<>();
    lines.put(
        "prompts",
        number("%,d to train on, %,d held out", c.trainingPrompts(), c.heldOutPrompts())
            + (c.evaluatedPrompts() == 0
                ? ", never evaluated"
                : number(", %,d of them in an evaluation", c.evaluatedPrompts())));
    lines.put(
        "batch",
        number(
            "%,d groups × %s completions = %s%,d completions, at most %,d tokens",
            c.groupsPerStep(),
            size.range(),
            size.grows() ? "at most " : "",
            c.completionsPerStep(),
            c.tokensPerStep()));
    lines.put(
        "admission",
        number(
            "at most %,d groups outstanding, (η + 1) · B%s; %,d under lease, %,d decoded at a time",
            c.groupsOutstanding(),
            c.groupUses() == 1 ? "" : number(" / K with K = %,d uses each", c.groupUses()),
            c.groupsUnderLease(),
            c.groupsDecoded()));
    lines.put(
        "staleness",
        number("tokens with loss weight are at most η = %,d versions behind; ", c.maxStaleness())
            + switch (resolved.config().training().stale()) {
              case MASK -> "older ones are masked";
              case DROP -> "a group with an older one is sampled again";
              case WAIT -> "a step waits for the group that would become older";
            });
    lines.put(
        "run",
        number(
                "%,d steps train on %s%,d completions, ",
                c.steps(), size.grows() ? "at most " : "", c.completionsTrained())
            + number("%.2f epochs without the degenerate groups", c.epochs()));
    return lines;
  }

  private static Map<String, String> memoryLines(MemoryEstimate memory) {
    MemoryEstimate.Policy policy = memory.policy();
    Map<String, String> lines = new LinkedHashMap<>();
    lines.put(
        "policy", policy.family() + number(", %,d parameters in float32", policy.parameters()));
    boolean adapted = policy.trained() < policy.parameters();
    if (adapted) {
      lines.put(
          "trained",
          number(
              "%,d parameters of adapters, %.2f %%; the policy's own are frozen",
              policy.trained(), 100.0 * policy.trained() / policy.parameters()));
    }
    MemoryEstimate.Trainer trainer = memory.trainer();
    lines.put(
        "trainer",
        bytes(trainer.weights())
            + (adapted
                ? ": weights, and of the adapters gradient and AdamW's two means"
                : ": weights, gradient, AdamW's two means"));
    lines.put(
        "step", bytes(trainer.step()) + ": activations, logits and gradients of a micro-batch");
    if (trainer.reference() > 0) {
      lines.put("reference", bytes(trainer.reference()) + ": weights of the reference policy");
    }
    if (trainer.teacher() > 0) {
      lines.put("teacher", bytes(trainer.teacher()) + ": weights of the teacher");
    }
    lines.put("publish", bytes(memory.published()) + ": the published weights and the next");
    MemoryEstimate.Samplers samplers = memory.samplers();
    lines.put(
        "workers",
        bytes(samplers.workers())
            + " of weights and at most "
            + bytes(samplers.keysAndValues())
            + " of keys and values");
    if (samplers.evaluator() > 0) {
      lines.put("evaluator", bytes(samplers.evaluator()) + ": weights of its sampler");
    }
    lines.put(
        "process",
        bytes(memory.process())
            + " of the JVM and libraries, "
            + bytes(memory.allocator())
            + " that the allocator keeps");
    lines.put("together", "about " + bytes(memory.total()));
    return lines;
  }

  /**
   * Refuses a run that does not fit in the memory of this machine.
   *
   * @param available bytes that are free here
   * @throws io.troupe.config.binding.ConfigurationException if it does not
   */
  public Plan fitting(long available) {
    memory.forEach(
        estimate ->
            resolved.check(
                (_, rules) ->
                    rules
                        .on("policy.engine")
                        .require(
                            () -> estimate.total() <= available,
                            "must fit in the memory that is free here, %s; this run takes %s"
                                .formatted(bytes(available), bytes(estimate.total())),
                            estimate.advice())));
    return this;
  }

  /** Whether a key or this machine says what a GPU of the run has, so that it decides. */
  public boolean knowsGpus() {
    return gpus.stream().anyMatch(each -> each.capacity() > 0);
  }

  /** This plan with what the GPUs of this machine have, which counts where no key says it. */
  public Plan withGpus(long bytes, String name) {
    return new Plan(
        resolved,
        loss,
        capacities,
        data,
        memory,
        gpus.stream().map(each -> each.measured(bytes, name)).toList(),
        placement,
        notes);
  }

  /**
   * Refuses a run of which a process does not fit in the memory of its GPU, as far as that is
   * known.
   *
   * @throws io.troupe.config.binding.ConfigurationException if one does not
   */
  public Plan fittingGpus() {
    gpus.forEach(
        each ->
            resolved.check(
                (_, rules) ->
                    rules
                        .on("placement.gpu", "placement.gpu_memory")
                        .require(
                            each::fits,
                            "must have room for each process: " + each.excess(),
                            each.advice())));
    return this;
  }

  private static void section(StringBuilder text, String title, Map<String, String> lines) {
    int width = lines.keySet().stream().mapToInt(String::length).max().orElse(0);
    text.append('\n').append(title).append('\n');
    lines.forEach(
        (name, line) ->
            text.append("  ").append(padded(name, width + 2)).append(line).append('\n'));
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }

  private static String number(String format, Object... numbers) {
    return String.format(Locale.ROOT, format, numbers);
  }

  private static String bytes(long count) {
    return number("%,.1f MiB", count / 1024.0 / 1024.0);
  }
}
