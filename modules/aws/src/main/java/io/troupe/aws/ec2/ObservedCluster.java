package io.troupe.aws.ec2;

import java.util.List;
import java.util.Optional;

/**
 * What EC2 shows of a cluster; it may show an instance some time after the launch.
 *
 * @param group whether its placement group exists
 */
public record ObservedCluster(List<ClusterInstance> instances, boolean group) {
  public ObservedCluster {
    instances = List.copyOf(instances);
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
}
