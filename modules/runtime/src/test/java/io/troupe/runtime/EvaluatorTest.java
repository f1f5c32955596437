package io.troupe.runtime;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.completion.Completion;
import io.troupe.core.reward.Verdict;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.runtime.prompt.Toys;
import io.troupe.telemetry.StepScores;
import io.troupe.verifiers.Verifier;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EvaluatorTest {
  private static final Duration SHORT = Duration.ofMillis(20);

  private final ActorTestKit actors = Toys.actors();
  private final EngineRegistry room = Toys.room();
  private final TestProbe<Run.Command> run = actors.createTestProbe();

  @AfterEach
  void stop() {
    actors.shutdownTestKit();
    room.close();
  }

  private ActorRef<Evaluator.Command> evaluator(Verifier verifier) {
    return actors.spawn(
        Evaluator.create(
            StepEvaluations.of(
                new HeldOutEvaluation(
                    Toys.prompts(), 8, Toys.policy().tokenizer(), Toys.service(verifier), 3)),
            room,
            Evaluator.PATIENCE,
            run.getRef()));
  }

  private static WeightSnapshot weights(long version) {
    return Toys.policy().newTrainer(1).snapshot(new WeightVersion(version));
  }

  /** An evaluation of which every answer was right. */
  private StepEvaluations.Outcome expectEvaluated(long step) {
    Run.Evaluated evaluated = run.expectMessageClass(Run.Evaluated.class);
    assertThat(evaluated.step()).isEqualTo(step);
    assertThat(evaluated.outcome().scores()).isEqualTo(StepScores.of(1));
    assertThat(evaluated.outcome().notes()).isEmpty();
    return evaluated.outcome();
  }

  @Test
  void evaluate_severalAsked_answersEachInOrder() {
    ActorRef<Evaluator.Command> evaluator =
        evaluator((_, completion) -> new Verdict.Scored(1, completion, ""));
    evaluator.tell(new Evaluator.Evaluate(0, weights(0)));
    evaluator.tell(new Evaluator.Evaluate(2, weights(2)));
    assertThat(expectEvaluated(0).answers())
        .containsOnlyKeys("held_out")
        .extractingByKey(
            "held_out", as(InstanceOfAssertFactories.list(HeldOutEvaluation.JudgedAnswer.class)))
        .hasSize(8)
        .allMatch(answer -> answer.sample() == 0 && answer.tokens() <= 3)
        .allMatch(answer -> answer.verdict().equals(new Verdict.Scored(1, answer.text(), "")));
    expectEvaluated(2);
  }

  @Test
  void evaluate_oneAnswerThatCannotBeVerified_isCountedApart() {
    AtomicInteger asked = new AtomicInteger();
    ActorRef<Evaluator.Command> evaluator =
        evaluator(
            (_, completion) ->
                asked.getAndIncrement() == 0
                    ? new Verdict.Unverifiable(Verdict.Cause.CRASH, "it crashed")
                    : new Verdict.Scored(1, completion, ""));
    evaluator.tell(new Evaluator.Evaluate(0, weights(0)));

    StepEvaluations.Outcome outcome = run.expectMessageClass(Run.Evaluated.class).outcome();

    assertThat(outcome.scores()).isEqualTo(StepScores.of(1));
    assertThat(outcome.notes())
        .singleElement()
        .asString()
        .startsWith("held_out: 1 of 8 answers could not be judged; held-out prompt p")
        .endsWith("cannot be verified: it crashed");
  }

  @Test
  void evaluate_gradedRewardsOfWhichNonePasses_showsTheirMeanAndSaysOnceWhy() {
    ActorRef<Evaluator.Command> evaluator =
        evaluator((_, completion) -> new Verdict.Scored(0.25, completion, ""));
    evaluator.tell(new Evaluator.Evaluate(0, weights(0)));

    StepEvaluations.Outcome outcome = run.expectMessageClass(Run.Evaluated.class).outcome();

    assertThat(outcome.scores().byName())
        .containsExactly(Map.entry("held_out", 0.0), Map.entry("reward", 0.25));
    assertThat(outcome.notes())
        .containsExactly(
            "held_out: no completion reached verifier.pass_reward (1.0); the highest reward was"
                + " 0.25: the share that passes stays 0 until one does, and the mean reward alone"
                + " shows what is learned");
    evaluator.tell(new Evaluator.Evaluate(1, weights(0)));
    assertThat(run.expectMessageClass(Run.Evaluated.class).outcome().notes()).isEmpty();
  }

  @Test
  void evaluate_namedEvaluations_areMadeAtTheirOwnIntervals() {
    HeldOutEvaluation own =
        new HeldOutEvaluation(
            Toys.prompts(), 8, Toys.policy().tokenizer(), Toys.service(Toys.verifier()), 3);
    HeldOutEvaluation sampled =
        new HeldOutEvaluation(
            Toys.prompts().subList(0, 2),
            Toys.policy().tokenizer(),
            Toys.service((_, completion) -> new Verdict.Scored(1, completion, "")),
            _ -> new SamplingSettings(1, 3),
            new EpisodeSettings.SingleTurn(),
            4,
            7);
    StepEvaluations all =
        new StepEvaluations(
            List.of(
                new StepEvaluations.Scheduled("held_out", 0, own),
                new StepEvaluations.Scheduled("sampled", 2, sampled)),
            5,
            "sampled");
    ActorRef<Evaluator.Command> evaluator =
        actors.spawn(Evaluator.create(all, room, Evaluator.PATIENCE, run.getRef()));

    evaluator.tell(new Evaluator.Evaluate(2, weights(2)));

    assertThat(run.expectMessageClass(Run.Evaluated.class).outcome().scores().byName())
        .containsExactly(Map.entry("sampled", 1.0));
    assertThat(all.due(2)).hasSize(1);
    assertThat(all.due(3)).isEmpty();
    assertThat(all.due(5)).hasSize(1);
  }

  @Test
  void evaluate_targetOfAMeanReward_isAmongTheScoresOfRightAnswersToo() {
    HeldOutEvaluation own =
        new HeldOutEvaluation(
            Toys.prompts(),
            8,
            Toys.policy().tokenizer(),
            Toys.service((_, completion) -> new Verdict.Scored(1, completion, "")),
            3);
    StepEvaluations all =
        new StepEvaluations(
            List.of(new StepEvaluations.Scheduled("held_out", 1, own)), 5, "reward");
    actors
        .spawn(Evaluator.create(all, room, Evaluator.PATIENCE, run.getRef()))
        .tell(new Evaluator.Evaluate(2, weights(2)));

    assertThat(run.expectMessageClass(Run.Evaluated.class).outcome().scores().byName())
        .containsExactly(Map.entry("held_out", 1.0), Map.entry("reward", 1.0));
  }

  @Test
  void evaluate_answerThatCannotBeVerified_failsAndGoesOn() {
    ActorRef<Evaluator.Command> evaluator =
        evaluator(
            (_, _) ->
                new Verdict.Unverifiable(Verdict.Cause.BAD_INPUT, "no answer to compare with"));
    evaluator.tell(new Evaluator.Evaluate(0, weights(0)));
    Run.EvaluationFailed failed = run.expectMessageClass(Run.EvaluationFailed.class);
    assertThat(failed.step()).isZero();
    assertThat(failed.reason())
        .startsWith("held_out: 8 of 8 answers could not be judged; held-out prompt p")
        .endsWith("cannot be verified: no answer to compare with");
    evaluator.tell(new Evaluator.Evaluate(2, weights(2)));
    assertThat(run.expectMessageClass(Run.EvaluationFailed.class).step()).isEqualTo(2);
  }

  @Test
  void evaluate_weightsThatCannotBeLoaded_fails() {
    evaluator(Toys.verifier()).tell(new Evaluator.Evaluate(4, Toys.BROKEN));
    assertThat(run.expectMessageClass(Run.EvaluationFailed.class).step()).isEqualTo(4);
  }

  /** Over engines that are made one after the other. */
  private ActorRef<Evaluator.Command> evaluator(Duration patience, Sampler... engines) {
    Iterator<Sampler> next = List.of(engines).iterator();
    EngineRegistry faulty = new EngineRegistry(new OtherSamplers(next::next));
    return actors.spawn(
        Evaluator.create(
            StepEvaluations.of(
                new HeldOutEvaluation(
                    Toys.prompts(),
                    8,
                    Toys.policy().tokenizer(),
                    Toys.service((_, completion) -> new Verdict.Scored(1, completion, "")),
                    3)),
            faulty,
            patience,
            run.getRef()));
  }

  private static Sampler failing() {
    return new Sampler() {
      @Override
      public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
        return requests.stream()
            .map(
                _ ->
                    CompletableFuture.<List<Completion>>failedStage(
                        new IllegalStateException("the sampler has ended")))
            .toList();
      }
    };
  }

  private static Sampler hanging() {
    return new Sampler() {
      @Override
      public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
        return silence(requests);
      }
    };
  }

  @Test
  void evaluate_engineThatFails_isRepeatedOnAnother() {
    Sampler dead = failing();
    ActorRef<Evaluator.Command> evaluator = evaluator(Evaluator.PATIENCE, dead, new Sampler());
    evaluator.tell(new Evaluator.Evaluate(0, weights(0)));
    expectEvaluated(0);
    dead.closed.join();
    evaluator.tell(new Evaluator.Evaluate(2, weights(2)));
    expectEvaluated(2);
  }

  @Test
  void evaluate_twoEnginesThatFail_failsWithTheReason() {
    evaluator(Evaluator.PATIENCE, failing(), failing()).tell(new Evaluator.Evaluate(0, weights(0)));
    run.expectMessage(new Run.EvaluationFailed(0, "the sampler has ended"));
  }

  @Test
  void evaluate_engineThatIsLost_isRepeatedOnAnother() {
    Sampler lost = hanging();
    lost.lost.complete("its device is gone");
    evaluator(Evaluator.PATIENCE, lost, new Sampler()).tell(new Evaluator.Evaluate(0, weights(0)));
    expectEvaluated(0);
    lost.closed.join();
  }

  @Test
  void evaluate_enginesThatNeverAnswer_fails() {
    evaluator(SHORT, hanging(), hanging()).tell(new Evaluator.Evaluate(0, weights(0)));
    run.expectMessage(
        new Run.EvaluationFailed(
            0, "its engine has sampled no token and answered no prompt for 20 ms"));
  }

  @Test
  void evaluate_slowEngineThatDrawsTokens_isWaitedForHoweverLongItTakes() {
    CountDownLatch looks = new CountDownLatch(10);
    Sampler slow =
        new Sampler() {
          private final AtomicLong tokens = new AtomicLong();
          private final CompletableFuture<Void> finished = new CompletableFuture<>();

          @Override
          public long progress() {
            looks.countDown();
            if (looks.getCount() == 0) {
              finished.complete(null);
            }
            return tokens.incrementAndGet();
          }

          @Override
          public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
            return toy.sample(requests).stream()
                .map(stage -> finished.thenCompose(_ -> stage))
                .map(stage -> (CompletionStage<List<Completion>>) stage)
                .toList();
          }
        };
    evaluator(SHORT, slow).tell(new Evaluator.Evaluate(0, weights(0)));
    expectEvaluated(0);
  }

  @Test
  void examination_fewerPromptsThanAsked_takesAll() {
    HeldOutEvaluation examination =
        new HeldOutEvaluation(
            Toys.prompts().subList(0, 3),
            8,
            Toys.policy().tokenizer(),
            Toys.service(Toys.verifier()),
            3);
    assertThat(examination.size()).isEqualTo(3);
    assertThat(examination.pool().size()).isEqualTo(3);
  }
}
