package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.reward.Verdict;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.WeightSnapshot;
import io.troupe.verifiers.Verifier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EvaluatorTest {
  private final ActorTestKit actors = Toys.actors();
  private final EngineRoom room = Toys.room();
  private final TestProbe<Run.Command> run = actors.createTestProbe();

  @AfterEach
  void stop() {
    actors.shutdownTestKit();
    room.close();
  }

  private ActorRef<Evaluator.Command> evaluator(Verifier verifier) {
    return actors.spawn(
        Evaluator.create(
            new Examination(
                Toys.prompts(), 8, Toys.policy().tokenizer(), Toys.service(verifier), 3),
            room,
            run.getRef()));
  }

  private static WeightSnapshot weights(long version) {
    return Toys.policy().newTrainer(1).snapshot(new WeightVersion(version));
  }

  @Test
  void evaluate_severalAsked_answersEachInOrder() {
    ActorRef<Evaluator.Command> evaluator =
        evaluator((_, completion) -> new Verdict.Scored(1, completion, ""));
    evaluator.tell(new Evaluator.Evaluate(0, weights(0)));
    evaluator.tell(new Evaluator.Evaluate(2, weights(2)));
    run.expectMessage(new Run.Evaluated(0, 1.0));
    run.expectMessage(new Run.Evaluated(2, 1.0));
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
        .startsWith("held-out prompt p")
        .endsWith("cannot be verified: no answer to compare with");
    evaluator.tell(new Evaluator.Evaluate(2, weights(2)));
    assertThat(run.expectMessageClass(Run.EvaluationFailed.class).step()).isEqualTo(2);
  }

  @Test
  void evaluate_weightsThatCannotBeLoaded_fails() {
    evaluator(Toys.verifier()).tell(new Evaluator.Evaluate(4, Toys.BROKEN));
    assertThat(run.expectMessageClass(Run.EvaluationFailed.class).step()).isEqualTo(4);
  }

  @Test
  void examination_fewerPromptsThanAsked_takesAll() {
    Examination examination =
        new Examination(
            Toys.prompts().subList(0, 3),
            8,
            Toys.policy().tokenizer(),
            Toys.service(Toys.verifier()),
            3);
    assertThat(examination.size()).isEqualTo(3);
    assertThat(examination.pool().size()).isEqualTo(3);
  }
}
