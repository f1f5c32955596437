package io.troupe.run.task;

import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.rollout.VerifierSection.Over;
import io.troupe.config.rollout.VerifierSection.Reward;
import io.troupe.core.prompt.Prompt;
import io.troupe.tasks.RowKeeping;
import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.Verifiers;
import io.troupe.verifiers.composite.RoutedService;
import io.troupe.verifiers.composite.TraceService;
import io.troupe.verifiers.composite.TurnRewardService;
import io.troupe.verifiers.composite.WeightedService;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The verifiers of a run: those that its rewards come from, and those that its evaluations measure
 * with. There is one pool for each kind, shared by all that it judges the same way for.
 */
public final class VerifierPools implements AutoCloseable {
  private static final int QUEUE = 1 << 18;

  private final VerifierSection section;
  private final PoolSettings settings;
  private final Map<VerifierSpec, VerifierService> opened = new LinkedHashMap<>();
  private final Map<String, Set<VerifierTrial>> trials = new LinkedHashMap<>();
  private final VerifierService rewards;
  private final VerifierService evaluation;

  private VerifierPools(
      VerifierSection section, Map<String, VerifierSpec> verifiers, boolean evaluates)
      throws IOException, InvalidVerifierException {
    this.section = section;
    PoolSettings standard = PoolSettings.of(section.workers());
    this.settings =
        new PoolSettings(
            section.workers(),
            section.timeout(),
            standard.startDeadline(),
            QUEUE,
            section.heapMb(),
            section.quarantineAfter(),
            section.quarantine());
    try {
      this.rewards = routed(verifiers, spec -> spec);
      this.evaluation = evaluates ? routed(verifiers, VerifierPools::measuring) : rewards;
    } catch (IOException | InvalidVerifierException refused) {
      close();
      throw refused;
    }
  }

  /**
   * Opens what judges each source.
   *
   * @param verifiers the data sets' own, by source; the section's rewards come before them
   * @param evaluates whether this process evaluates the policy
   * @throws IOException if something they need is missing on this machine; says what to do
   */
  public static VerifierPools open(
      VerifierSection section, Map<String, VerifierSpec> verifiers, boolean evaluates)
      throws IOException, InvalidVerifierException {
    return new VerifierPools(section, verifiers, evaluates);
  }

  /** Returns the verifier that rewards rollouts. */
  public VerifierService rewards() {
    return rewards;
  }

  /**
   * Returns the verifier that measures answers to held-out prompts: {@link
   * VerifierProvider#forEvaluation}. It is {@link #rewards} for each source whose verifier reads
   * both alike.
   */
  public VerifierService evaluation() {
    return evaluation;
  }

  /**
   * Lets each verifier of the user's own judge once. Verifiers that come with Troupe need no trial,
   * and a judge, which may cost money, is not asked.
   *
   * @param prompts of which each source's first is judged
   * @return sentences about what is worth knowing
   * @throws InvalidVerifierException if one of them gives no reward; says why and what to do
   */
  public List<String> tryOut(List<Prompt> prompts) throws InvalidVerifierException {
    Map<String, Prompt> first = new LinkedHashMap<>();
    prompts.forEach(prompt -> first.putIfAbsent(prompt.source(), prompt));
    List<String> sentences = new ArrayList<>();
    for (Map.Entry<String, Prompt> each : first.entrySet()) {
      for (VerifierTrial trial : trials.getOrDefault(each.getKey(), Set.of())) {
        trial.judge(each.getValue()).ifPresent(sentences::add);
      }
    }
    return sentences;
  }

  /** Returns the service of all pools, for views and quarantines; it judges nothing. */
  public VerifierService all() {
    Map<String, VerifierService> byPool = new LinkedHashMap<>();
    opened.forEach((spec, service) -> byPool.put("pool " + byPool.size(), service));
    return new RoutedService(byPool, section.mark());
  }

  /** Closes every pool once. */
  @Override
  public void close() {
    opened.values().forEach(VerifierService::close);
  }

  /**
   * Looks for every verifier by its name, without opening anything.
   *
   * @param verifiers the data sets' own, by source
   * @throws InvalidVerifierException naming the first that there is not, and those there are
   */
  public static void check(VerifierSection section, Map<String, VerifierSpec> verifiers)
      throws InvalidVerifierException {
    for (Reward reward : section.rewards()) {
      if (!verifiers.containsKey(reward.source())) {
        throw new InvalidVerifierException(
            "verifier.rewards names the source '%s', and the task has %s"
                .formatted(reward.source(), String.join(", ", verifiers.keySet())));
      }
    }
    try {
      Verifiers known = Verifiers.with(section.plugins());
      for (Map.Entry<String, VerifierSpec> each : verifiers.entrySet()) {
        if (section.rewardsOf(each.getKey()).isEmpty()) {
          VerifierProvider _ = known.named(each.getValue().name());
        }
      }
      for (Reward reward : section.rewards()) {
        if (!reward.verifier().equals(VerifierServices.COMMAND) && !reward.isOfTurns()) {
          VerifierProvider _ = known.named(reward.verifier());
        }
      }
    } catch (IllegalArgumentException wrong) {
      throw new InvalidVerifierException(String.valueOf(wrong.getMessage()));
    }
  }

  /**
   * Returns whose prompts keep their rows: those that a verifier judges which reads more of a row
   * than its answer, such as a program of the user's own. A name that no verifier has is refused
   * elsewhere.
   */
  public static RowKeeping keeping(VerifierSection section) {
    Map<String, Boolean> known = new HashMap<>();
    Predicate<String> reads =
        name -> known.computeIfAbsent(name, _ -> readsRow(name, section.plugins()));
    return (source, own) -> {
      List<Reward> parts = section.rewardsOf(source);
      return parts.isEmpty()
          ? reads.test(own)
          : parts.stream().anyMatch(part -> !part.isOfTurns() && reads.test(part.verifier()));
    };
  }

  private static boolean readsRow(String verifier, List<Path> plugins) {
    if (verifier.equals(VerifierServices.COMMAND)) {
      return true;
    }
    try {
      return Verifiers.with(plugins).named(verifier).readsRow();
    } catch (IllegalArgumentException unknown) {
      return false; // check() refuses it
    }
  }

  private RoutedService routed(
      Map<String, VerifierSpec> verifiers, UnaryOperator<VerifierSpec> form)
      throws IOException, InvalidVerifierException {
    Map<String, VerifierService> bySource = new LinkedHashMap<>();
    for (Map.Entry<String, VerifierSpec> each : verifiers.entrySet()) {
      bySource.put(each.getKey(), service(each.getKey(), each.getValue(), form));
    }
    return new RoutedService(bySource, section.mark());
  }

  private VerifierService service(String source, VerifierSpec own, UnaryOperator<VerifierSpec> form)
      throws IOException, InvalidVerifierException {
    List<Reward> parted = section.rewardsOf(source);
    if (parted.isEmpty()) {
      VerifierSpec spec = new VerifierSpec(own.name(), own.options(), section.plugins());
      return tried(source, spec, pool(spec, form));
    }
    List<WeightedService.Part> parts = new ArrayList<>();
    for (Reward reward : parted) {
      if (reward.isOfTurns()) {
        parts.add(
            new WeightedService.Part(
                VerifierSection.TURNS, reward.weight(), new TurnRewardService()));
        continue;
      }
      VerifierSpec spec =
          new VerifierSpec(reward.verifier(), reward.optionsByName(), section.plugins());
      VerifierService pool = pool(spec, form);
      parts.add(
          new WeightedService.Part(
              reward.verifier(),
              reward.weight(),
              tried(source, spec, reward.over() == Over.TRACE ? new TraceService(pool) : pool)));
    }
    return parts.size() == 1 ? parts.getFirst().service() : new WeightedService(parts);
  }

  /** Returns the service, of which a trial is kept if its verifier is the user's own. */
  private VerifierService tried(String source, VerifierSpec spec, VerifierService service) {
    String run = spec.options().getOrDefault(VerifierServices.RUN, "");
    boolean own =
        spec.name().equals(VerifierServices.COMMAND)
            || Verifiers.with(List.of()).all().stream()
                .noneMatch(known -> known.name().equals(spec.name()));
    if (own) {
      trials
          .computeIfAbsent(source, _ -> new LinkedHashSet<>())
          .add(
              new VerifierTrial(
                  "verifier %s of %s%s"
                      .formatted(
                          spec.name(), source, run.isEmpty() ? "" : " (run=%s)".formatted(run)),
                  service,
                  section.timeout()));
    }
    return service;
  }

  private VerifierService pool(VerifierSpec wanted, UnaryOperator<VerifierSpec> form)
      throws IOException, InvalidVerifierException {
    try {
      VerifierSpec spec = withPermission(form.apply(wanted));
      VerifierService known = opened.get(spec);
      if (known != null) {
        return known;
      }
      VerifierService fresh = VerifierServices.open(spec, settings, name(spec));
      opened.put(spec, fresh);
      return fresh;
    } catch (IllegalArgumentException wrong) {
      throw new InvalidVerifierException(
          "verifier %s: %s".formatted(wanted.name(), wrong.getMessage()));
    }
  }

  private static VerifierSpec measuring(VerifierSpec spec) {
    return spec.name().equals(VerifierServices.COMMAND)
        ? spec
        : new VerifierSpec(
            spec.name(),
            Verifiers.with(spec.plugins()).named(spec.name()).forEvaluation(spec.options()),
            spec.plugins());
  }

  /** The verifier's name; numbered from the second pool of a verifier on. */
  private String name(VerifierSpec spec) {
    long others = opened.keySet().stream().filter(one -> one.name().equals(spec.name())).count();
    return others == 0 ? spec.name() : spec.name() + "." + (others + 1);
  }

  private VerifierSpec withPermission(VerifierSpec spec) {
    if (!section.allowUnsandboxedCode()
        || spec.name().equals(VerifierServices.COMMAND)
        || !Verifiers.with(spec.plugins()).named(spec.name()).runsCode()) {
      return spec;
    }
    Map<String, String> options = new LinkedHashMap<>(spec.options());
    options.put("allow_unsandboxed", "true");
    return new VerifierSpec(spec.name(), options, spec.plugins());
  }
}
