package io.troupe.aws.ec2.plan;

import io.troupe.aws.ec2.plan.ClusterInstance.MachinePlace;
import io.troupe.aws.ec2.plan.ClusterInstance.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The next step, from the file, the record and the cluster that EC2 shows. Pure.
 *
 * <p>Invariants, whatever request fails, however often, and wherever the process dies:
 *
 * <ul>
 *   <li>A cluster never has more live instances than its goal and its former goal ask for. A launch
 *       without an answer is sent again as it was, with its token, and nothing else is launched
 *       before it has one. An instance that a launch answered with counts before EC2 shows it.
 *   <li>The goal {@link ClusterGoal.Deleted} is reached only when every instance that any launch
 *       can have made is terminated, and its volumes, network interfaces and the placement group
 *       are gone, but for parts that were attached to an instance of another cluster.
 * </ul>
 *
 * @param file description of the cluster
 */
public record ClusterPlan(Ec2File file) {
  /** EC2 shows an instance within seconds of its launch; after this long it never existed. */
  static final long SHOWN_WITHIN_MILLIS = 5 * 60_000;

  /** After this long a token may be forgotten by EC2, and sending it again would launch more. */
  static final long TOKEN_LIFETIME_MILLIS = 60 * 60_000;

  /** The next step. */
  public ClusterStep next(
      ClusterGoal goal, ClusterRecord known, ObservedCluster observed, long nowMillis) {
    Optional<ClusterStep> unanswered = unanswered(goal, known, observed, nowMillis);
    if (unanswered.isPresent()) {
      return unanswered.get();
    }
    List<String> hidden = hidden(known, observed, nowMillis);
    return switch (goal) {
      case ClusterGoal.Running(int count) -> running(count, known, observed, hidden, nowMillis);
      case ClusterGoal.Stopped _ -> stopped(observed, hidden);
      case ClusterGoal.Deleted _ -> deleted(observed, hidden);
    };
  }

  /** Returns the step for a launch without an answer, if there is one. */
  private static Optional<ClusterStep> unanswered(
      ClusterGoal goal, ClusterRecord known, ObservedCluster observed, long nowMillis) {
    if (known.pending().isEmpty()) {
      return Optional.empty();
    }
    LaunchRequest launch = known.pending().getFirst();
    long age = nowMillis - launch.firstSentMillis();
    if (goal instanceof ClusterGoal.Running && age < TOKEN_LIFETIME_MILLIS) {
      return Optional.of(new ClusterStep.Launch(launch));
    }
    if (observed.shows(launch) || age >= SHOWN_WITHIN_MILLIS) {
      return Optional.of(new ClusterStep.ForgetLaunch());
    }
    return Optional.of(new ClusterStep.Await("what a launch without an answer made"));
  }

  /** Instances that were launched, and that EC2 does not show yet. */
  private static List<String> hidden(
      ClusterRecord known, ObservedCluster observed, long nowMillis) {
    return known.launched().entrySet().stream()
        .filter(each -> nowMillis - each.getValue() < SHOWN_WITHIN_MILLIS)
        .map(each -> each.getKey())
        .filter(id -> observed.find(id).isEmpty())
        .sorted()
        .toList();
  }

  private ClusterStep running(
      int count, ClusterRecord known, ObservedCluster observed, List<String> hidden, long now) {
    List<ClusterInstance> live = observed.live();
    int present = live.size() + hidden.size();
    if (present > count) {
      List<String> surplus = surplus(live, Math.min(live.size(), present - count));
      return surplus.isEmpty() ? awaitShown(hidden) : new ClusterStep.Terminate(surplus);
    }
    List<String> stopped = ids(live, each -> each.state() == State.STOPPED);
    if (!stopped.isEmpty()) {
      return new ClusterStep.Start(stopped);
    }
    if (present < count) {
      return file.placementGroup() && !observed.group()
          ? new ClusterStep.CreateGroup()
          : launch(count - present, known, live, now);
    }
    if (!hidden.isEmpty()) {
      return awaitShown(hidden);
    }
    long ready = live.stream().filter(ClusterInstance::ready).count();
    return ready == count
        ? new ClusterStep.Reached()
        : new ClusterStep.Await("%d of %d instances ready".formatted(ready, count));
  }

  private static ClusterStep awaitShown(List<String> hidden) {
    return new ClusterStep.Await("EC2 to show " + String.join(", ", hidden));
  }

  /** The last launched go first: the first instance is the coordinator's host. */
  private static List<String> surplus(List<ClusterInstance> live, int count) {
    return live.stream().sorted(ORDER.reversed()).limit(count).map(ClusterInstance::id).toList();
  }

  /** The order of hosts in the hosts file. */
  public static final Comparator<ClusterInstance> ORDER =
      Comparator.comparingLong(ClusterInstance::launchedAtMillis)
          .thenComparing(ClusterInstance::id);

  private ClusterStep launch(
      int count, ClusterRecord known, List<ClusterInstance> live, long nowMillis) {
    List<LaunchRequest> offers = new ArrayList<>();
    for (MachineOffer machine : file.machines()) {
      for (String subnet : file.subnets()) {
        MachinePlace place = new MachinePlace(machine.type(), subnet);
        // Ranks of one collective want equal machines near each other.
        if (live.isEmpty() || live.getFirst().place().equals(place)) {
          offers.add(
              new LaunchRequest(known.nextToken(), count, place, machine.efaCards(), nowMillis));
        }
      }
    }
    if (offers.isEmpty()) {
      return new ClusterStep.Impossible(
          "the file offers no %s in subnet %s, which the cluster's other instances are"
              .formatted(live.getFirst().place().type(), live.getFirst().place().subnet()));
    }
    return known.offer() < offers.size()
        ? new ClusterStep.Launch(offers.get(known.offer()))
        : new ClusterStep.OutOfCapacity();
  }

  private ClusterStep stopped(ObservedCluster observed, List<String> hidden) {
    if (file.spot()) {
      return new ClusterStep.Impossible("spot instances cannot be stopped; delete the cluster");
    }
    List<String> running = ids(observed.live(), each -> each.state() == State.RUNNING);
    if (!running.isEmpty()) {
      return new ClusterStep.Stop(running);
    }
    if (!hidden.isEmpty()) {
      return awaitShown(hidden);
    }
    long moving = observed.live().stream().filter(each -> each.state() != State.STOPPED).count();
    return moving == 0
        ? new ClusterStep.Reached()
        : new ClusterStep.Await("%d instances to stop".formatted(moving));
  }

  private static ClusterStep deleted(ObservedCluster observed, List<String> hidden) {
    List<String> live = ids(observed.instances(), ClusterInstance::live);
    if (!live.isEmpty()) {
      return new ClusterStep.Terminate(live);
    }
    if (!hidden.isEmpty()) {
      return awaitShown(hidden);
    }
    long ending =
        observed.instances().stream().filter(each -> each.state() == State.SHUTTING_DOWN).count();
    if (ending > 0) {
      return new ClusterStep.Await("%d instances to terminate".formatted(ending));
    }
    if (!observed.detached().isEmpty()) {
      return new ClusterStep.DeleteParts(observed.detached());
    }
    if (!observed.attachedWithin().isEmpty()) {
      return new ClusterStep.Await(
          "EC2 to detach %s from a terminated instance"
              .formatted(observed.attachedWithin().getFirst().words()));
    }
    return observed.group() ? new ClusterStep.DeleteGroup() : new ClusterStep.Reached();
  }

  private static List<String> ids(
      List<ClusterInstance> instances, Predicate<ClusterInstance> chosen) {
    return instances.stream().filter(chosen).map(ClusterInstance::id).sorted().toList();
  }
}
