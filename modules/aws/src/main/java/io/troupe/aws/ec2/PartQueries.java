package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.OpenClients;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ResourceKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.services.ec2.Ec2Client;
import software.amazon.awssdk.services.ec2.model.Filter;
import software.amazon.awssdk.services.ec2.model.NetworkInterface;
import software.amazon.awssdk.services.ec2.model.NetworkInterfaceStatus;
import software.amazon.awssdk.services.ec2.model.Tag;
import software.amazon.awssdk.services.ec2.model.Volume;
import software.amazon.awssdk.services.ec2.model.VolumeAttachment;
import software.amazon.awssdk.services.ec2.model.VolumeState;

/** Volumes and network interfaces through Amazon's SDK. */
record PartQueries(OpenClients clients) {
  /** A part, and its tags. */
  record ShownPart(ClusterPart part, List<Tag> tags) {}

  private Ec2Client ec2() {
    return clients.client(Ec2Client.class, Ec2Client::builder);
  }

  /** The parts that pass filters and are not being deleted. */
  List<ShownPart> find(List<Filter> filters) throws AwsException {
    List<ShownPart> found = new ArrayList<>();
    for (Volume each :
        clients.ask(
            "DescribeVolumes",
            () ->
                ec2().describeVolumesPaginator(ask -> ask.filters(filters)).volumes().stream()
                    .toList())) {
      if (each.state() != VolumeState.DELETING && each.state() != VolumeState.DELETED) {
        found.add(
            shown(
                ResourceKind.VOLUME,
                each.volumeId(),
                each.state() == VolumeState.AVAILABLE ? "" : holder(each),
                each.tags()));
      }
    }
    for (NetworkInterface each :
        clients.ask(
            "DescribeNetworkInterfaces",
            () ->
                ec2()
                    .describeNetworkInterfacesPaginator(ask -> ask.filters(filters))
                    .networkInterfaces()
                    .stream()
                    .toList())) {
      found.add(
          shown(
              ResourceKind.INTERFACE,
              each.networkInterfaceId(),
              each.status() == NetworkInterfaceStatus.AVAILABLE ? "" : holder(each),
              each.tagSet()));
    }
    return found;
  }

  private static ShownPart shown(ResourceKind kind, String id, String attachedTo, List<Tag> tags) {
    return new ShownPart(new ClusterPart(kind, id, attachedTo), tags);
  }

  /** The instance that has a volume. A volume that is being created cannot be deleted yet. */
  private static String holder(Volume volume) {
    return volume.attachments().stream()
        .map(VolumeAttachment::instanceId)
        .findFirst()
        .orElse(volume.state() == VolumeState.CREATING ? volume.stateAsString() : "");
  }

  private static String holder(NetworkInterface card) {
    return Optional.ofNullable(card.attachment())
        .flatMap(each -> Optional.ofNullable(each.instanceId()))
        .orElse(card.statusAsString());
  }

  /** Deletes a part that no instance has. */
  void delete(ClusterPart part) throws AwsException {
    switch (part.kind()) {
      case VOLUME -> {
        var _ =
            clients.ask("DeleteVolume", () -> ec2().deleteVolume(ask -> ask.volumeId(part.id())));
      }
      case INTERFACE -> {
        var _ =
            clients.ask(
                "DeleteNetworkInterface",
                () -> ec2().deleteNetworkInterface(ask -> ask.networkInterfaceId(part.id())));
      }
      case INSTANCE, GROUP ->
          throw new IllegalArgumentException("no part of an instance: " + part.words());
    }
  }
}
