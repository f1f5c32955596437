package io.troupe.aws.client;

import io.troupe.aws.client.AwsException.Kind;
import io.troupe.base.clock.Surroundings;
import io.troupe.core.outage.Backoff;
import java.time.Duration;

/**
 * Sends requests again that a service did not answer, with growing pauses.
 *
 * @param patience for one request
 */
public record PatientRequests(Surroundings here, Duration patience) {
  private static final Backoff BACKOFF = new Backoff(1_000, 60_000);

  /** A request that may be sent again. */
  @FunctionalInterface
  public interface Repeatable<T> {
    T send() throws AwsException;
  }

  /**
   * The answer of a request.
   *
   * @throws AwsException of kind UNAVAILABLE if there is none in time, else what the service said
   */
  public <T> T ask(Repeatable<T> request) throws AwsException, InterruptedException {
    long giveUpAt = here.nowMillis() + patience.toMillis();
    String said = "";
    for (int failures = 1; ; failures++) {
      try {
        return request.send();
      } catch (AwsException failure) {
        long pause = BACKOFF.pauseMillis(failures, here.random().nextDouble());
        if (failure.kind() != Kind.UNAVAILABLE || here.nowMillis() + pause > giveUpAt) {
          throw failure;
        }
        String reason = String.valueOf(failure.getMessage());
        if (!reason.equals(said)) {
          here.say("waits for " + reason);
          said = reason;
        }
        here.pause(Duration.ofMillis(pause));
      }
    }
  }
}
