package io.troupe.aws.client;

import io.troupe.base.clock.Surroundings;
import io.troupe.core.outage.Backoff;
import java.time.Duration;

/** Growing pauses between the attempts of one request, within the time that it may take. */
public final class OutageWait {
  private static final Backoff BACKOFF = new Backoff(1_000, 60_000);

  private final Surroundings here;
  private final long giveUpAt;
  private int failures;
  private String said = "";

  /** Time starts to pass now. */
  public OutageWait(Surroundings here, Duration patience) {
    this.here = here;
    this.giveUpAt = here.nowMillis() + patience.toMillis();
  }

  /** Pauses after a failure, and says each reason once; returns false at once if time is up. */
  public boolean pause(Exception failure) throws InterruptedException {
    failures++;
    long pause = BACKOFF.pauseMillis(failures, here.random().nextDouble());
    if (here.nowMillis() + pause > giveUpAt) {
      return false;
    }
    String reason = String.valueOf(failure.getMessage());
    if (!reason.equals(said)) {
      here.say("waits for " + reason);
      said = reason;
    }
    here.pause(Duration.ofMillis(pause));
    return true;
  }
}
