package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.LaunchRequest;
import io.troupe.aws.ec2.plan.ObservedCluster;
import io.troupe.aws.ec2.plan.ResourceKind;
import java.util.List;

/** The requests to EC2 that clusters need. Each may fail, also after it was done. */
public interface Ec2Service {
  /** Returns the ARN of the caller. */
  String caller() throws AwsException;

  /** Returns the cluster as EC2 shows it. */
  ObservedCluster observe(ClusterRecord cluster) throws AwsException;

  /**
   * Returns the region's resources that have tags of a cluster of this program. Volumes and network
   * interfaces that instances of such clusters have are not named: they go with these.
   */
  List<TaggedResource> tagged() throws AwsException;

  /**
   * Launches instances, all or none.
   *
   * @return their ids
   */
  List<String> launch(ClusterRecord cluster, Ec2File file, LaunchRequest request)
      throws AwsException;

  void start(List<String> ids) throws AwsException;

  void stop(List<String> ids) throws AwsException;

  void terminate(List<String> ids) throws AwsException;

  /** Creates the placement group of a cluster. */
  void createGroup(ClusterRecord cluster) throws AwsException;

  /** Deletes a placement group. */
  void deleteGroup(String name) throws AwsException;

  /** Deletes a volume or a network interface that no instance has. */
  void deletePart(ClusterPart part) throws AwsException;

  /**
   * A resource with the tags of a cluster.
   *
   * @param id of an instance, volume or network interface, or the name of a group
   * @param nonce of its cluster
   * @param owner ARN of who created it
   */
  record TaggedResource(ResourceKind kind, String id, String cluster, String nonce, String owner) {}
}
