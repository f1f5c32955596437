package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.AwsException.Kind;
import io.troupe.aws.ec2.plan.ClusterInstance;
import io.troupe.aws.ec2.plan.ClusterInstance.State;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.LaunchRequest;
import io.troupe.aws.ec2.plan.ObservedCluster;
import io.troupe.aws.ec2.plan.ResourceKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * EC2 as its guide describes it: tokens are honoured, a launch is all or none, instances show late,
 * states take time, what is in use is not deleted, volumes and network interfaces go with their
 * instance unless somebody detached or kept them. Time is looked at, and moves by {@link #pass}.
 */
final class FakeEc2 implements Ec2Service {
  static final String CALLER = "arn:aws:iam::1:user/tester";

  /** Looks until a launched instance is shown, and until a state changes. */
  int delay = 1;

  /** Most live instances of a type; more are refused for lack of capacity. */
  final Map<String, Integer> capacity = new HashMap<>();

  final Set<String> groups = new HashSet<>();
  final Map<String, Owned> instances = new TreeMap<>();
  final Map<String, PlayedPart> parts = new TreeMap<>();
  final List<String> requests = new ArrayList<>();
  private final Map<String, List<String>> tokens = new HashMap<>();
  private final Map<String, LaunchRequest> asked = new HashMap<>();
  private int time;
  private int number;

  /** An instance, and whose. */
  static final class Owned {
    final ClusterRecord cluster;
    final LaunchRequest launch;
    final int shownFrom;
    State state = State.PENDING;
    int next;

    Owned(ClusterRecord cluster, LaunchRequest launch, int shownFrom) {
      this.cluster = cluster;
      this.launch = launch;
      this.shownFrom = shownFrom;
      this.next = shownFrom;
    }

    boolean live() {
      return state != State.SHUTTING_DOWN && state != State.TERMINATED;
    }
  }

  /** A volume or a network interface, and whose. */
  static final class PlayedPart {
    final ResourceKind kind;
    final ClusterRecord cluster;
    String attachedTo;

    /** Whether the volume outlives its instance. */
    boolean kept;

    PlayedPart(ResourceKind kind, ClusterRecord cluster, String attachedTo) {
      this.kind = kind;
      this.cluster = cluster;
      this.attachedTo = attachedTo;
    }
  }

  static AwsException refusal(Kind kind, String code) {
    return new AwsException(kind, code, new IllegalStateException(code));
  }

  int live() {
    return (int) instances.values().stream().filter(Owned::live).count();
  }

  private void pass() {
    time++;
    for (Owned each : instances.values()) {
      if (time >= each.next) {
        each.state =
            switch (each.state) {
              case PENDING -> State.RUNNING;
              case STOPPING -> State.STOPPED;
              case SHUTTING_DOWN -> State.TERMINATED;
              case RUNNING, STOPPED, TERMINATED -> each.state;
            };
      }
    }
    parts.values().removeIf(each -> endsWithInstance(each) && !each.kept);
    parts.values().stream().filter(this::endsWithInstance).forEach(each -> each.attachedTo = "");
  }

  private boolean endsWithInstance(PlayedPart part) {
    Owned instance = instances.get(part.attachedTo);
    return instance != null && instance.state == State.TERMINATED;
  }

  /** Takes an instance away, as a spot market does. */
  void interrupt() {
    instances.values().stream()
        .filter(Owned::live)
        .findFirst()
        .ifPresent(each -> each.state = State.TERMINATED);
  }

  @Override
  public String caller() {
    return CALLER;
  }

  @Override
  public ObservedCluster observe(ClusterRecord cluster) {
    pass();
    List<ClusterInstance> shown = new ArrayList<>();
    instances.forEach(
        (id, each) -> {
          if (each.cluster.nonce().equals(cluster.nonce()) && time >= each.shownFrom) {
            shown.add(
                new ClusterInstance(
                    id,
                    each.state,
                    each.launch.place(),
                    each.launch.token(),
                    Integer.parseInt(id.substring(2)),
                    each.state == State.RUNNING,
                    "10.0.0." + Integer.parseInt(id.substring(2)),
                    ""));
          }
        });
    List<ClusterPart> seen = new ArrayList<>();
    parts.forEach(
        (id, each) -> {
          if (each.cluster.nonce().equals(cluster.nonce())) {
            seen.add(new ClusterPart(each.kind, id, each.attachedTo));
          }
        });
    return new ObservedCluster(shown, seen, groups.contains(ClusterDriver.groupOf(cluster)));
  }

  @Override
  public List<TaggedResource> tagged() {
    List<TaggedResource> all = new ArrayList<>();
    instances.forEach(
        (id, each) -> {
          if (each.live()) {
            all.add(
                new TaggedResource(
                    ResourceKind.INSTANCE, id, each.cluster.name(), each.cluster.nonce(), CALLER));
          }
        });
    return all;
  }

  @Override
  public List<String> launch(ClusterRecord cluster, Ec2File file, LaunchRequest request)
      throws AwsException {
    requests.add("launch " + request.token());
    if (tokens.containsKey(request.token())) {
      if (!request.equals(asked.get(request.token()))) {
        throw refusal(Kind.EXISTS, "IdempotentParameterMismatch");
      }
      return tokens.get(request.token());
    }
    if (file.placementGroup() && !groups.contains(ClusterDriver.groupOf(cluster))) {
      throw refusal(Kind.ABSENT, "InvalidPlacementGroup.Unknown");
    }
    long ofType =
        instances.values().stream()
            .filter(each -> each.live() && each.launch.place().equals(request.place()))
            .count();
    if (ofType + request.count()
        > capacity.getOrDefault(request.place().type(), Integer.MAX_VALUE)) {
      throw refusal(Kind.CAPACITY, "InsufficientInstanceCapacity");
    }
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < request.count(); i++) {
      String id = "i-%04d".formatted(++number);
      // Those of one launch do not show together.
      instances.put(id, new Owned(cluster, request, time + 1 + (i + 1) * delay));
      ids.add(id);
      String digits = id.substring(1);
      parts.put("vol" + digits, new PlayedPart(ResourceKind.VOLUME, cluster, id));
      parts.put("eni" + digits, new PlayedPart(ResourceKind.INTERFACE, cluster, id));
    }
    tokens.put(request.token(), ids);
    asked.put(request.token(), request);
    return ids;
  }

  @Override
  public void start(List<String> ids) throws AwsException {
    change(ids, State.PENDING);
  }

  @Override
  public void stop(List<String> ids) throws AwsException {
    change(ids, State.STOPPING);
  }

  @Override
  public void terminate(List<String> ids) throws AwsException {
    requests.add("terminate " + ids);
    change(ids, State.SHUTTING_DOWN);
  }

  private void change(List<String> ids, State state) throws AwsException {
    for (String id : ids) {
      Owned each = instances.get(id);
      if (each == null || time < each.shownFrom) {
        throw refusal(Kind.ABSENT, "InvalidInstanceID.NotFound");
      }
      if (each.live()) {
        each.state = state;
        each.next = time + 1 + delay;
      }
    }
  }

  @Override
  public void createGroup(ClusterRecord cluster) throws AwsException {
    requests.add("group");
    if (!groups.add(ClusterDriver.groupOf(cluster))) {
      throw refusal(Kind.EXISTS, "InvalidPlacementGroup.Duplicate");
    }
  }

  @Override
  public void deleteGroup(String name) throws AwsException {
    if (instances.values().stream().anyMatch(each -> each.state != State.TERMINATED)) {
      throw refusal(Kind.IN_USE, "InvalidPlacementGroup.InUse");
    }
    groups.remove(name);
  }

  @Override
  public void deletePart(ClusterPart part) throws AwsException {
    boolean volume = part.kind() == ResourceKind.VOLUME;
    PlayedPart played = parts.get(part.id());
    if (played == null) {
      throw refusal(
          Kind.ABSENT, volume ? "InvalidVolume.NotFound" : "InvalidNetworkInterfaceID.NotFound");
    }
    if (!played.attachedTo.isEmpty()) {
      throw refusal(Kind.IN_USE, volume ? "VolumeInUse" : "InvalidNetworkInterface.InUse");
    }
    parts.remove(part.id());
  }
}
