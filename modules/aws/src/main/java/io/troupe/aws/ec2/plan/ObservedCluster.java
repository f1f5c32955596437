package io.troupe.aws.ec2.plan;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A cluster as EC2 shows it; an instance may show some time after the launch.
 *
 * @param parts volumes and network interfaces, attached or not
 * @param group whether its placement group exists
 */
public record ObservedCluster(
    List<ClusterInstance> instances, List<ClusterPart> parts, boolean group) {
  public ObservedCluster {
    instances = List.copyOf(instances);
    parts = List.copyOf(parts);
  }

  /** The instances that exist and are not on their way out. */
  public List<ClusterInstance> live() {
    return instances.stream().filter(ClusterInstance::live).toList();
  }

  /** An instance by its id. */
  public Optional<ClusterInstance> find(String id) {
    return instances.stream().filter(each -> each.id().equals(id)).findFirst();
  }

  /** Whether every instance of a launch is shown, in whatever state. */
  public boolean shows(LaunchRequest launch) {
    return instances.stream().filter(each -> each.launchToken().equals(launch.token())).count()
        >= launch.count();
  }

  /** The parts that no instance has: they do not go with one. */
  public List<ClusterPart> detached() {
    return parts(ClusterPart::detached);
  }

  /** The parts that instances of the cluster have; EC2 deletes most of them with these. */
  public List<ClusterPart> attachedWithin() {
    return parts(each -> find(each.attachedTo()).isPresent());
  }

  /** Returns the parts that are attached to an instance of another cluster, or of none. */
  public List<ClusterPart> attachedElsewhere() {
    return parts(each -> !each.detached() && find(each.attachedTo()).isEmpty());
  }

  private List<ClusterPart> parts(Predicate<ClusterPart> chosen) {
    return parts.stream().filter(chosen).toList();
  }
}
