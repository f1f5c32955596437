package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsClients;
import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.OpenClients;
import io.troupe.aws.ec2.PartQueries.ShownPart;
import io.troupe.aws.ec2.plan.ClusterInstance;
import io.troupe.aws.ec2.plan.ClusterInstance.MachinePlace;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.LaunchRequest;
import io.troupe.aws.ec2.plan.ObservedCluster;
import io.troupe.aws.ec2.plan.ResourceKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import software.amazon.awssdk.services.ec2.Ec2Client;
import software.amazon.awssdk.services.ec2.model.DescribeInstancesRequest;
import software.amazon.awssdk.services.ec2.model.Filter;
import software.amazon.awssdk.services.ec2.model.Instance;
import software.amazon.awssdk.services.ec2.model.InstanceStatus;
import software.amazon.awssdk.services.ec2.model.PlacementStrategy;
import software.amazon.awssdk.services.ec2.model.ResourceType;
import software.amazon.awssdk.services.ec2.model.RunInstancesRequest;
import software.amazon.awssdk.services.ec2.model.SummaryStatus;
import software.amazon.awssdk.services.ec2.model.Tag;
import software.amazon.awssdk.services.ec2.model.TagSpecification;
import software.amazon.awssdk.services.sts.StsClient;

/**
 * EC2 and STS through Amazon's SDK. Credentials are found by its default chain and never kept.
 * Everything is tagged in the request that creates it.
 */
public final class SdkEc2 implements Ec2Service, AutoCloseable {
  private static final String CLUSTER = "troupe:cluster";
  private static final String NONCE = "troupe:nonce";
  private static final String OWNER = "troupe:owner";

  private final OpenClients clients;
  private final PartQueries parts;
  private Optional<String> caller = Optional.empty();

  /** Creates a service that opens its clients at the first request. */
  public SdkEc2(AwsClients clients) {
    this.clients = new OpenClients(clients, Ec2Failures::explain);
    this.parts = new PartQueries(this.clients);
  }

  private Ec2Client ec2() {
    return clients.client(Ec2Client.class, Ec2Client::builder);
  }

  @Override
  public String caller() throws AwsException {
    if (caller.isEmpty()) {
      caller =
          Optional.of(
              clients.ask(
                  "GetCallerIdentity",
                  () ->
                      clients
                          .client(StsClient.class, StsClient::builder)
                          .getCallerIdentity()
                          .arn()));
    }
    return caller.get();
  }

  @Override
  public ObservedCluster observe(ClusterRecord cluster) throws AwsException {
    List<Filter> tags =
        List.of(filter("tag:" + CLUSTER, cluster.name()), filter("tag:" + NONCE, cluster.nonce()));
    List<Instance> instances = describe(DescribeInstancesRequest.builder().filters(tags).build());
    List<String> running =
        instances.stream()
            .filter(each -> state(each) == ClusterInstance.State.RUNNING)
            .map(Instance::instanceId)
            .toList();
    Map<String, Boolean> sound = running.isEmpty() ? Map.of() : sound(running);
    String group = ClusterDriver.groupOf(cluster);
    boolean there =
        clients.ask(
            "DescribePlacementGroups",
            () ->
                ec2()
                    .describePlacementGroups(ask -> ask.filters(filter("group-name", group)))
                    .placementGroups()
                    .stream()
                    .anyMatch(each -> !"deleted".equals(each.stateAsString())));
    return new ObservedCluster(
        instances.stream()
            .map(each -> observed(each, sound.getOrDefault(each.instanceId(), false)))
            .toList(),
        parts.find(tags).stream().map(ShownPart::part).toList(),
        there);
  }

  private List<Instance> describe(DescribeInstancesRequest request) throws AwsException {
    return clients.ask(
        "DescribeInstances",
        () ->
            ec2().describeInstancesPaginator(request).reservations().stream()
                .flatMap(each -> each.instances().stream())
                .toList());
  }

  private Map<String, Boolean> sound(List<String> ids) throws AwsException {
    return clients.ask(
        "DescribeInstanceStatus",
        () -> {
          Map<String, Boolean> sound = new HashMap<>();
          for (InstanceStatus each :
              ec2()
                  .describeInstanceStatusPaginator(ask -> ask.instanceIds(ids))
                  .instanceStatuses()) {
            sound.put(
                each.instanceId(),
                each.systemStatus().status() == SummaryStatus.OK
                    && each.instanceStatus().status() == SummaryStatus.OK);
          }
          return sound;
        });
  }

  private static ClusterInstance observed(Instance each, boolean sound) {
    return new ClusterInstance(
        each.instanceId(),
        state(each),
        new MachinePlace(each.instanceTypeAsString(), text(each.subnetId())),
        tag(each.tags(), InstanceRequest.LAUNCH),
        each.launchTime() == null ? 0 : each.launchTime().toEpochMilli(),
        sound,
        text(each.privateIpAddress()),
        text(each.publicIpAddress()));
  }

  private static ClusterInstance.State state(Instance each) {
    return ClusterInstance.State.valueOf(
        each.state().nameAsString().toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  private static String text(String value) {
    return value == null ? "" : value;
  }

  private static String tag(Collection<Tag> tags, String key) {
    return tags.stream()
        .filter(each -> each.key().equals(key))
        .map(Tag::value)
        .findFirst()
        .orElse("");
  }

  private static Filter filter(String name, String value) {
    return Filter.builder().name(name).values(value).build();
  }

  @Override
  public List<TaggedResource> tagged() throws AwsException {
    Filter ours = filter("tag-key", CLUSTER);
    List<TaggedResource> found = new ArrayList<>();
    Set<String> instances = new HashSet<>();
    for (Instance each : describe(DescribeInstancesRequest.builder().filters(ours).build())) {
      instances.add(each.instanceId());
      ClusterInstance.State state = state(each);
      if (state != ClusterInstance.State.TERMINATED
          && state != ClusterInstance.State.SHUTTING_DOWN) {
        found.add(resource(ResourceKind.INSTANCE, each.instanceId(), each.tags()));
      }
    }
    for (ShownPart each : parts.find(List.of(ours))) {
      if (!instances.contains(each.part().attachedTo())) {
        found.add(resource(each.part().kind(), each.part().id(), each.tags()));
      }
    }
    clients
        .ask(
            "DescribePlacementGroups",
            () -> ec2().describePlacementGroups(ask -> ask.filters(ours)).placementGroups())
        .forEach(each -> found.add(resource(ResourceKind.GROUP, each.groupName(), each.tags())));
    return found;
  }

  private static TaggedResource resource(ResourceKind kind, String id, Collection<Tag> tags) {
    return new TaggedResource(kind, id, tag(tags, CLUSTER), tag(tags, NONCE), tag(tags, OWNER));
  }

  @Override
  public List<String> launch(ClusterRecord cluster, Ec2File file, LaunchRequest request)
      throws AwsException {
    RunInstancesRequest asked = new InstanceRequest(cluster, file, request, tags(cluster)).words();
    return clients.ask(
        "RunInstances",
        () -> ec2().runInstances(asked).instances().stream().map(Instance::instanceId).toList());
  }

  private List<Tag> tags(ClusterRecord cluster) throws AwsException {
    return List.of(
        Tag.builder().key(CLUSTER).value(cluster.name()).build(),
        Tag.builder().key(NONCE).value(cluster.nonce()).build(),
        Tag.builder().key(OWNER).value(caller()).build());
  }

  @Override
  public void start(List<String> ids) throws AwsException {
    var _ = clients.ask("StartInstances", () -> ec2().startInstances(ask -> ask.instanceIds(ids)));
  }

  @Override
  public void stop(List<String> ids) throws AwsException {
    var _ = clients.ask("StopInstances", () -> ec2().stopInstances(ask -> ask.instanceIds(ids)));
  }

  @Override
  public void terminate(List<String> ids) throws AwsException {
    var _ =
        clients.ask(
            "TerminateInstances", () -> ec2().terminateInstances(ask -> ask.instanceIds(ids)));
  }

  @Override
  public void createGroup(ClusterRecord cluster) throws AwsException {
    List<Tag> tags = tags(cluster);
    var _ =
        clients.ask(
            "CreatePlacementGroup",
            () ->
                ec2()
                    .createPlacementGroup(
                        ask ->
                            ask.groupName(ClusterDriver.groupOf(cluster))
                                .strategy(PlacementStrategy.CLUSTER)
                                .tagSpecifications(
                                    TagSpecification.builder()
                                        .resourceType(ResourceType.PLACEMENT_GROUP)
                                        .tags(tags)
                                        .build())));
  }

  @Override
  public void deleteGroup(String name) throws AwsException {
    var _ =
        clients.ask(
            "DeletePlacementGroup", () -> ec2().deletePlacementGroup(ask -> ask.groupName(name)));
  }

  @Override
  public void deletePart(ClusterPart part) throws AwsException {
    parts.delete(part);
  }

  @Override
  public void close() {
    clients.close();
  }
}
