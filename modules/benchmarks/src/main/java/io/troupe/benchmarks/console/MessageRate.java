package io.troupe.benchmarks.console;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.Behaviors;
import com.typesafe.config.ConfigFactory;
import io.troupe.run.mailbox.MeteredMailbox;
import java.util.concurrent.CountDownLatch;

/**
 * The number of messages a second that one actor handles and another thread sends as fast as it
 * can.
 */
final class MessageRate {
  /** The work of the actor for a message. */
  enum Work {
    /** The extension counts the messages. */
    NONE("that only counts", 3_000_000, 0),
    /** The actor works as long as the coordinator of a run does for its quickest messages. */
    SOME("that works 20 µs a message", 100_000, 20_000);

    private final String words;
    private final int messages;
    private final long nanos;

    Work(String words, int messages, long nanos) {
      this.words = words;
      this.messages = messages;
      this.nanos = nanos;
    }

    String words() {
      return words;
    }
  }

  private MessageRate() {}

  static double measure(Work work, boolean metered) {
    CountDownLatch done = new CountDownLatch(work.messages);
    String mailbox =
        metered
            ? "akka.actor.typed.default-mailbox.mailbox-type = \"%s\"%n"
                .formatted(MeteredMailbox.class.getName())
            : "";
    ActorSystem<Integer> system =
        ActorSystem.create(
            actor(work, done),
            "tell",
            ConfigFactory.parseString(mailbox + "akka.loglevel = OFF")
                .withFallback(ConfigFactory.load()));
    try {
      long start = System.nanoTime();
      for (int i = 0; i < work.messages; i++) {
        system.tell(i);
      }
      done.await();
      return work.messages * 1e9 / (System.nanoTime() - start);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } finally {
      system.terminate();
      system.getWhenTerminated().toCompletableFuture().join();
    }
  }

  private static Behavior<Integer> actor(Work work, CountDownLatch done) {
    return Behaviors.receiveMessage(
        _ -> {
          for (long end = System.nanoTime() + work.nanos; System.nanoTime() < end; ) {
            Thread.onSpinWait();
          }
          done.countDown();
          return Behaviors.same();
        });
  }
}
