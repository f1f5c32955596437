package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.AwsException.Kind;
import io.troupe.aws.ec2.plan.ClusterGoal;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterPlan;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.ClusterStep;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.LaunchRequest;
import io.troupe.aws.ec2.plan.ObservedCluster;
import io.troupe.base.clock.Surroundings;
import io.troupe.core.outage.Backoff;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Takes the steps of {@link ClusterPlan} one after the other until the goal is reached. */
public final class ClusterDriver {
  private static final Backoff BACKOFF = new Backoff(1_000, 60_000);
  private static final long CAPACITY_PAUSE_MILLIS = 60_000;

  /** Keeps what must be known after a crash; durable when the call returns. */
  @FunctionalInterface
  public interface RecordStore {
    void write(ClusterRecord record) throws IOException;
  }

  private final Ec2Service service;
  private final ClusterPlan plan;
  private final RecordStore store;
  private final Surroundings here;
  private ClusterRecord known;
  private String lastSaid = "";

  public ClusterDriver(
      Ec2Service service, Ec2File file, ClusterRecord known, RecordStore store, Surroundings here) {
    this.service = service;
    this.plan = new ClusterPlan(file);
    this.known = known;
    this.store = store;
    this.here = here;
  }

  /** Returns the present record of the cluster. */
  public ClusterRecord known() {
    return known;
  }

  /** The hosts are fit for a launch: a later failure deletes nothing. */
  public void complete() throws IOException {
    remember(known.complete());
  }

  /**
   * Works until the goal is reached.
   *
   * @param patience after which it gives up
   * @throws AwsException if the goal cannot be reached, or not in time
   */
  public ObservedCluster reach(ClusterGoal goal, Duration patience)
      throws AwsException, IOException, InterruptedException {
    long giveUpAt = here.nowMillis() + patience.toMillis();
    int failures = 0;
    while (true) {
      long pause;
      String waitsFor;
      try {
        ObservedCluster observed = service.observe(known);
        ClusterStep step = plan.next(goal, known, observed, here.nowMillis());
        if (step instanceof ClusterStep.Reached) {
          if (goal instanceof ClusterGoal.Running) {
            remember(known.fromFirstOffer());
          }
          return observed;
        }
        pause = take(step);
        waitsFor = awaited(step);
        failures = 0;
      } catch (AwsException failure) {
        if (!passing(failure)) {
          throw failure;
        }
        failures++;
        pause = BACKOFF.pauseMillis(failures, here.random().nextDouble());
        waitsFor = String.valueOf(failure.getMessage());
      }
      if (pause > 0) {
        if (here.nowMillis() + pause > giveUpAt) {
          throw new AwsException(
              Kind.REFUSED,
              "not done after %d s; last: %s".formatted(patience.toSeconds(), waitsFor));
        }
        sayOnce("waits for " + waitsFor);
        here.pause(Duration.ofMillis(pause));
      }
    }
  }

  private static String awaited(ClusterStep step) {
    return switch (step) {
      case ClusterStep.Await(var reason) -> reason;
      case ClusterStep.OutOfCapacity _ -> "capacity, which no offer of the file has now";
      default -> "EC2 to " + step.words();
    };
  }

  private static boolean passing(AwsException failure) {
    return switch (failure.kind()) {
      case UNAVAILABLE, ABSENT, IN_USE -> true;
      case CAPACITY, REFUSED, EXISTS -> false;
    };
  }

  /** Takes a step; returns the pause after it, in ms. */
  private long take(ClusterStep step) throws AwsException, IOException {
    switch (step) {
      case ClusterStep.CreateGroup _ -> createGroup();
      case ClusterStep.DeleteGroup _ -> {
        sayOnce("deletes placement group " + groupOf(known));
        service.deleteGroup(groupOf(known));
      }
      case ClusterStep.Launch(var request) -> launch(request);
      case ClusterStep.Start(var ids) -> act("starts", ids, service::start);
      case ClusterStep.Stop(var ids) -> act("stops", ids, service::stop);
      case ClusterStep.Terminate(var ids) -> act("terminates", ids, service::terminate);
      case ClusterStep.DeleteParts(var parts) -> {
        for (ClusterPart each : parts) {
          sayOnce("deletes " + each.words());
          service.deletePart(each);
        }
      }
      case ClusterStep.ForgetLaunch _ -> remember(known.refused(false));
      case ClusterStep.OutOfCapacity _ -> {
        remember(known.fromFirstOffer());
        return CAPACITY_PAUSE_MILLIS;
      }
      case ClusterStep.Await _ -> {
        return here.lookAgain().toMillis();
      }
      case ClusterStep.Impossible(var reason) -> throw new AwsException(Kind.REFUSED, reason);
      case ClusterStep.Reached _ -> {}
    }
    return shownLater(step) ? here.lookAgain().toMillis() : 0;
  }

  /** EC2 shows the new state of what it has changed some time after the answer. */
  private static boolean shownLater(ClusterStep step) {
    return switch (step) {
      case ClusterStep.Start _,
          ClusterStep.Stop _,
          ClusterStep.Terminate _,
          ClusterStep.DeleteParts _ ->
          true;
      default -> false;
    };
  }

  /** The name of a cluster's placement group. */
  public static String groupOf(ClusterRecord cluster) {
    return "troupe-%s-%s".formatted(cluster.name(), cluster.nonce());
  }

  private void createGroup() throws AwsException {
    try {
      service.createGroup(known);
    } catch (AwsException failure) {
      if (failure.kind() != Kind.EXISTS) { // an answer was lost
        throw failure;
      }
    }
  }

  private void launch(LaunchRequest request) throws AwsException, IOException {
    remember(known.sending(request));
    sayOnce(
        "launches %d of %s in %s"
            .formatted(request.count(), request.place().type(), request.place().subnet()));
    try {
      List<String> ids = service.launch(known, plan.file(), request);
      remember(known.launched(ids, here.nowMillis()));
    } catch (AwsException failure) {
      switch (failure.kind()) {
        case CAPACITY -> {
          remember(known.refused(true));
          sayOnce(String.valueOf(failure.getMessage()));
        }
        case REFUSED -> {
          remember(known.refused(false));
          throw failure;
        }
        case ABSENT -> {
          remember(known.refused(false)); // such as a placement group that is not shown yet
          throw failure;
        }
        case IN_USE, EXISTS, UNAVAILABLE -> throw failure;
      }
    }
  }

  private interface Request {
    void send(List<String> ids) throws AwsException;
  }

  private void act(String verb, List<String> ids, Request request) throws AwsException {
    sayOnce("%s %s".formatted(verb, String.join(", ", ids)));
    request.send(ids);
  }

  private void remember(ClusterRecord record) throws IOException {
    if (!record.equals(known)) {
      store.write(record);
      known = record;
    }
  }

  private void sayOnce(String line) {
    if (!line.equals(lastSaid)) {
      lastSaid = line;
      here.say(line);
    }
  }
}
