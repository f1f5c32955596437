package io.troupe.aws.ec2;

import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.LaunchRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import software.amazon.awssdk.services.ec2.model.BlockDeviceMapping;
import software.amazon.awssdk.services.ec2.model.InstanceNetworkInterfaceSpecification;
import software.amazon.awssdk.services.ec2.model.MarketType;
import software.amazon.awssdk.services.ec2.model.ResourceType;
import software.amazon.awssdk.services.ec2.model.RunInstancesRequest;
import software.amazon.awssdk.services.ec2.model.Tag;
import software.amazon.awssdk.services.ec2.model.TagSpecification;

/**
 * The launch of a cluster's instances in EC2's words. Everything that a launch creates has its tags
 * from the beginning, and its token, so that a launch that is sent again launches nothing twice.
 *
 * @param own tags of everything that belongs to the cluster
 */
record InstanceRequest(ClusterRecord cluster, Ec2File file, LaunchRequest request, List<Tag> own) {
  /** The tag that holds the token of an instance's launch. */
  static final String LAUNCH = "troupe:launch";

  RunInstancesRequest words() {
    RunInstancesRequest.Builder asked =
        RunInstancesRequest.builder()
            .clientToken(request.token())
            .minCount(request.count())
            .maxCount(request.count())
            .instanceType(request.place().type())
            .imageId(file.host().image())
            .keyName(file.host().key())
            .blockDeviceMappings(
                BlockDeviceMapping.builder()
                    .deviceName(file.host().rootDevice())
                    .ebs(
                        volume -> volume.volumeSize(file.host().volume()).deleteOnTermination(true))
                    .build())
            .metadataOptions(options -> options.httpTokens("required"))
            .tagSpecifications(tags());
    network(asked);
    if (file.spot()) {
      asked.instanceMarketOptions(market -> market.marketType(MarketType.SPOT));
    }
    if (file.placementGroup()) {
      asked.placement(placement -> placement.groupName(ClusterDriver.groupOf(cluster)));
    }
    if (!file.host().instanceProfile().isEmpty()) {
      asked.iamInstanceProfile(profile -> profile.name(file.host().instanceProfile()));
    }
    if (!file.host().setup().isEmpty()) {
      String script = "#!/bin/sh\nset -e\n" + String.join("\n", file.host().setup()) + "\n";
      asked.userData(Base64.getEncoder().encodeToString(script.getBytes(StandardCharsets.UTF_8)));
    }
    return asked.build();
  }

  private void network(RunInstancesRequest.Builder asked) {
    if (request.efaCards() == 0) {
      asked.subnetId(request.place().subnet()).securityGroupIds(file.host().securityGroups());
      return;
    }
    List<InstanceNetworkInterfaceSpecification> cards = new ArrayList<>();
    for (int card = 0; card < request.efaCards(); card++) {
      cards.add(
          InstanceNetworkInterfaceSpecification.builder()
              .networkCardIndex(card)
              .deviceIndex(card == 0 ? 0 : 1)
              .interfaceType(card == 0 ? "efa" : "efa-only")
              .subnetId(request.place().subnet())
              .groups(file.host().securityGroups())
              .deleteOnTermination(true)
              .build());
    }
    asked.networkInterfaces(cards);
  }

  private List<TagSpecification> tags() {
    List<Tag> tags = new ArrayList<>(own);
    tags.add(Tag.builder().key(LAUNCH).value(request.token()).build());
    tags.add(Tag.builder().key("Name").value("troupe " + cluster.name()).build());
    for (String each : file.host().tags()) {
      int equals = each.indexOf('=');
      tags.add(
          Tag.builder().key(each.substring(0, equals)).value(each.substring(equals + 1)).build());
    }
    List<ResourceType> types =
        new ArrayList<>(
            List.of(ResourceType.INSTANCE, ResourceType.VOLUME, ResourceType.NETWORK_INTERFACE));
    if (file.spot()) {
      types.add(ResourceType.SPOT_INSTANCES_REQUEST);
    }
    return types.stream()
        .map(type -> TagSpecification.builder().resourceType(type).tags(tags).build())
        .toList();
  }
}
