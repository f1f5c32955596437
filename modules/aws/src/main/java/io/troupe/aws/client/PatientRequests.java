package io.troupe.aws.client;

import io.troupe.aws.client.AwsException.Kind;
import io.troupe.base.clock.Surroundings;
import java.time.Duration;

/**
 * Sends requests again that a service did not answer, with growing pauses.
 *
 * @param patience for one request
 */
public record PatientRequests(Surroundings here, Duration patience) {
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
    OutageWait outage = new OutageWait(here, patience);
    while (true) {
      try {
        return request.send();
      } catch (AwsException failure) {
        if (failure.kind() != Kind.UNAVAILABLE || !outage.pause(failure)) {
          throw failure;
        }
      }
    }
  }
}
