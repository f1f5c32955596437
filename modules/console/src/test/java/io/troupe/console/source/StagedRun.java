package io.troupe.console.source;

import io.troupe.console.chat.StagedChat;
import io.troupe.console.process.JvmInspector;
import io.troupe.console.process.LocalJvm;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Decision;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunLimits;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.RunViewSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A run without engines: a coordinator that the test plays the workers for. */
public final class StagedRun implements RunSource {
  private final RunLimits limits =
      new RunLimits(
          new RunLimits.Prompts(50, 1, PromptSampling.UNIFORM, 3),
          new RunLimits.Groups(2, 6, 60_000, true, false, 500),
          new RunLimits.Step(2, 1, StalePolicy.MASK, false),
          new RunLimits.Schedule(1_000, 0, 0, 0, 0, 100),
          OutageLimits.DEFAULT);
  private final Coordination coordination = new Coordination(limits);
  private final RunFold fold = new RunFold(RunViewSettings.of("staged", limits), 1_000);
  private final RunRecords records;
  private final StagedChat chat = new StagedChat();
  private RunState state = RunState.INITIAL;
  private volatile CompletableFuture<Void> answers = CompletableFuture.completedFuture(null);

  public StagedRun(Path traces) {
    records = RunRecords.of(fold, traces);
    tell(new Input.Begin());
    tell(new Input.DemandRaised(new WorkerId("rollout-1"), 4));
  }

  public synchronized RunState state() {
    return state;
  }

  public synchronized Decision tell(Input input) {
    Decision decision = coordination.decide(state, input, 0);
    for (Event event : decision.events()) {
      fold.event(System.currentTimeMillis(), event);
    }
    state = decision.state();
    return decision;
  }

  public LeaseId oldest() {
    return state().leases().findFirst().orElseThrow().lease();
  }

  /** Answers the oldest lease. */
  public void answer() {
    Group.Leased held = state().leases().findFirst().orElseThrow();
    TokenVersions tokens = TokenVersions.uniform(held.version(), 3);
    tell(
        new Input.GroupScored(
            new GroupSummary(held.lease(), List.of(0.0, 1.0), List.of(tokens, tokens))));
  }

  @Override
  public RunRecords records() {
    return records;
  }

  @Override
  public Map<String, Object> provenance() {
    return Map.of("resolved", "run:\n  seed: 1\n");
  }

  /** One completion of any step, with a text that is longer than a page shows. */
  @Override
  public StepExplanations explanations() {
    return step ->
        List.of(
            Map.of(
                "step", step, "row", 0, "group", 7, "advantage", 0.5, "text", "x".repeat(30_000)));
  }

  @Override
  public OptionalLong certificateDays() {
    return OptionalLong.of(29);
  }

  @Override
  public JvmInspector jvms() {
    return LocalJvm.bystander();
  }

  @Override
  public StagedChat chat() {
    return chat;
  }

  @Override
  public boolean live() {
    return true;
  }

  @Override
  public CompletionStage<Optional<String>> order(OperatorCommand verb, Attribution order) {
    Decision decision = tell(new Input.Ordered(verb, order));
    for (Event event : decision.events()) {
      if (event instanceof Event.OrderRefused(OperatorCommand _, Attribution _, String reason)) {
        return CompletableFuture.completedFuture(Optional.of(reason));
      }
    }
    return answers.thenApply(_ -> Optional.empty());
  }

  /** Orders are taken, and answered once what is returned is completed. */
  public CompletableFuture<Void> holdAnswers() {
    answers = new CompletableFuture<>();
    return answers;
  }
}
