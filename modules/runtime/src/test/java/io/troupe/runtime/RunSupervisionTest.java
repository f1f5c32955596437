package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunEnd;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.runtime.prompt.Toys;
import io.troupe.telemetry.StepRow;
import io.troupe.verifiers.pool.VerifierService;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run one of whose actors throws: every test makes another one do so. */
class RunSupervisionTest {
  private static final String FAULT = "a fault of the test";

  private final ActorTestKit actors = Toys.actors();
  private final SmallRun run;
  private EngineRegistry room = Toys.room();

  RunSupervisionTest(@TempDir Path folder) throws Exception {
    this.run = new SmallRun(folder);
  }

  @AfterEach
  void stop() throws Exception {
    actors.shutdownTestKit();
    room.close();
    run.close();
  }

  private ActorRef<Run.Command> start(int steps) throws Exception {
    return run.start(actors, room, Toys.settings(steps, 30));
  }

  private void requireFailed(ActorRef<Run.Command> guardian, String reason) throws Exception {
    SmallRun.Ended ended = run.awaitEnd();
    assertThat(ended.end()).isEqualTo(new RunEnd.Failed(reason));
    assertThat(ended.state().version().number()).isGreaterThanOrEqualTo(2);
    actors.createTestProbe().expectTerminated(guardian);
    assertThat(run.checkpoints()).isNotEmpty();
  }

  @Test
  void coordinator_throws_endsTheRunAsFailedWithItsLastState() throws Exception {
    run.onEvent =
        event -> {
          if (event instanceof Event.StepTrained(long step, var _) && step == 3) {
            throw new IllegalStateException(FAULT);
          }
        };
    requireFailed(start(100_000), "the coordinator failed: " + FAULT);
  }

  @Test
  void trainer_throws_endsTheRunAsFailed() throws Exception {
    ActorRef<Run.Command> guardian = start(100_000);
    run.awaitThirdRow();
    run.posts()
        .trainer()
        .tell(new Trainer.Train(99, WeightVersion.BASE, List.of(Toys.lease(9_999, 9_999))));
    requireFailed(
        guardian,
        "the trainer failed: the tokens of %s are gone".formatted(Toys.lease(9999, 9999)));
  }

  @Test
  void recorder_throws_endsTheRunAsFailed() throws Exception {
    ActorRef<Run.Command> guardian = start(100_000);
    run.awaitThirdRow();
    run.posts()
        .recorder()
        .tell(
            new Recorder.Happened(
                new Event.GroupAdmitted(new GroupId(1), 777, 0, new PromptCursor(0, 0)),
                WeightVersion.BASE));
    requireFailed(
        guardian, "the recorder of the traces failed: Index 777 out of bounds for length 100");
  }

  @Test
  void recorder_behindAtTheEnd_writesEverythingFirst() throws Exception {
    CountDownLatch lastRow = new CountDownLatch(1);
    run.onLine =
        () -> {
          try {
            lastRow.await();
          } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
          }
        };
    run.onRow =
        row -> {
          if (row.step() == 4) {
            lastRow.countDown();
          }
        };
    start(4);
    assertThat(run.awaitEnd().end()).isEqualTo(new RunEnd.Completed());
    assertThat(run.trace("trained")).hasSize(4);
    assertThat(run.trace("evaluations"))
        .hasSize(3 * SmallRun.HELD_OUT)
        .last()
        .asString()
        .contains("\"step\":4,");
  }

  @Test
  void verifierPool_throws_endsTheRunAsFailed() throws Exception {
    AtomicInteger steps = new AtomicInteger();
    run.onEvent =
        event -> {
          if (event instanceof Event.StepTrained) {
            steps.incrementAndGet();
          }
        };
    VerifierService sound = run.verifiers;
    run.verifiers =
        (VerifierService)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {VerifierService.class},
                (_, method, arguments) -> {
                  if (method.getName().equals("verify") && steps.get() >= 3) {
                    throw new IllegalStateException(FAULT);
                  }
                  return method.invoke(sound, arguments);
                });
    requireFailed(start(100_000), "the verifier pool failed: " + FAULT);
  }

  @Test
  void evaluator_throws_losesThatEvaluationWithANoteAndIsReplaced() throws Exception {
    AtomicInteger made = new AtomicInteger();
    room =
        new EngineRegistry(
            new OtherSamplers(
                () -> {
                  if (made.incrementAndGet() == 1) {
                    throw new IllegalStateException(FAULT);
                  }
                  return Toys.policy().newSampler();
                }),
            Toys.policy()::newSampler,
            _ -> {});
    start(4);
    assertThat(run.awaitEnd().end()).isEqualTo(new RunEnd.Completed());
    assertThat(run.rows).extracting(StepRow::step).containsExactly(0L, 1L, 2L, 3L, 4L);
    assertThat(run.rows.stream().filter(row -> row.eval().isPresent()).map(StepRow::step))
        .containsExactly(2L, 4L);
    assertThat(run.notes)
        .containsExactly("the evaluation of step 0 failed: the evaluator failed: " + FAULT);
  }

  @Test
  void worker_throws_isStartedAgain() throws Exception {
    AtomicInteger made = new AtomicInteger();
    ToyPolicy policy = Toys.policy();
    room =
        new EngineRegistry(
            policy,
            () -> {
              if (made.incrementAndGet() == 1) {
                throw new IllegalStateException(FAULT);
              }
              return policy.newSampler();
            },
            _ -> {});
    start(100_000);
    for (int i = 0; i < Toys.WORKERS; i++) {
      run.awaitWorker();
    }
    assertThat(made).hasValue(Toys.WORKERS + 1);
    assertThat(run.notes) // either worker may be the first to make its sampler
        .singleElement()
        .asString()
        .matches("worker rollout-[12] failed and is started again in 1 s: " + FAULT);
    run.drain();
    assertThat(run.awaitEnd().end()).isEqualTo(new RunEnd.Interrupted());
  }

  @Test
  void restart_askedForAgainAndAgain_isNoFailure() throws Exception {
    start(100_000);
    TestProbe<Coordinator.OrderReply> replies = actors.createTestProbe();
    WorkerId worker = run.awaitWorker();
    for (int i = 0; i < Toys.WORKERS - 1; i++) {
      run.awaitWorker();
    }
    for (int restart = 0; restart < 12; restart++) {
      run.posts()
          .coordinator()
          .tell(
              new Coordinator.Order(
                  new Input.Ordered(
                      new OperatorCommand.RestartWorker(worker), new Attribution("ada", "to look")),
                  replies.getRef()));
      replies.expectMessage(new Coordinator.OrderTaken());
      WorkerId next = run.awaitWorker();
      assertThat(next).isNotEqualTo(worker);
      worker = next;
    }
    assertThat(run.notes).isEmpty();
    run.drain();
    assertThat(run.awaitEnd().end()).isEqualTo(new RunEnd.Interrupted());
  }
}
