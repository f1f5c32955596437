package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.troupe.engine.SamplingEngine;
import io.troupe.runtime.prompt.Toys;
import io.troupe.testkit.Await;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The end of a process whose engines may never return. */
final class EngineRegistryTest {
  private static final Duration AT_ONCE = Duration.ofMillis(1);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final CountDownLatch hang = new CountDownLatch(1);

  @AfterEach
  void release() {
    hang.countDown();
  }

  private final class Hanging extends Sampler {
    @Override
    public void close() {
      Await.latch(hang);
      super.close();
    }
  }

  @Test
  void closeWithin_samplerThatNeverReturns_namesItAndReturns() throws Exception {
    Sampler idle = new Sampler();
    Hanging hanging = new Hanging();
    Iterator<SamplingEngine> samplers = List.<SamplingEngine>of(idle, hanging).iterator();
    EngineRegistry room = new EngineRegistry(Toys.policy(), samplers::next, _ -> {});
    room.newRolloutSampler();
    room.newRolloutSampler();
    Await.until(() -> room.closeWithin(AT_ONCE).equals(Optional.of("sampler 2 of 2")));
    assertThat(idle.closed).isCompleted();

    hang.countDown();
    assertThat(room.closeWithin(PATIENCE)).isEmpty();
    assertThat(hanging.closed).isCompleted();
  }

  @Test
  void closeWithin_trainerThatNeverReturns_namesItAndReturns() throws Exception {
    EngineRegistry room = Toys.room();
    room.trainerThread().execute(() -> Await.latch(hang));
    Await.until(() -> room.closeWithin(AT_ONCE).equals(Optional.of("the trainer")));

    hang.countDown();
    assertThat(room.closeWithin(PATIENCE)).isEmpty();
  }

  @Test
  void closeWithin_enginesThatReturn_waitsForThem() throws Exception {
    EngineRegistry room = Toys.room();
    room.newSampler();
    room.newTrainer(1);
    assertThat(room.closeWithin(PATIENCE)).isEmpty();
    assertThat(room.isClosed()).isTrue();
  }

  /** The trainer of a process that ends may still have something to do. */
  @Test
  void trainerThread_afterTheEnd_dropsWhatItIsGiven() throws Exception {
    EngineRegistry room = Toys.room();
    room.close();
    assertThatCode(() -> room.trainerThread().execute(() -> Await.latch(hang)))
        .doesNotThrowAnyException();
    assertThat(room.closing()).isEqualTo("the policy");
  }
}
