package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.ec2.Ec2Service.TaggedResource;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.base.process.ExitCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe ec2 orphans}: what clusters left that this machine does not know. */
@Command(
    name = "orphans",
    mixinStandardHelpOptions = true,
    description = {
      "Lists what the file's region has of clusters of troupe that this machine does not know:"
          + " instances, volumes and network interfaces without one of these instances, and"
          + " placement groups.",
      "Exit code 1 if there are any."
    })
public final class OrphansCommand implements Callable<Integer> {
  @Mixin private Ec2Options options = new Ec2Options();

  @Option(
      names = "--delete",
      description = "Deletes those that these credentials created, and no others.")
  private boolean delete;

  @Override
  public Integer call() throws IOException {
    Ec2File file = options.load();
    Set<String> here =
        options.folder().all().stream().map(ClusterRecord::nonce).collect(Collectors.toSet());
    try (SdkEc2 service = options.service(file)) {
      List<TaggedResource> orphans =
          service.tagged().stream().filter(each -> !here.contains(each.nonce())).toList();
      String caller = service.caller();
      List<TaggedResource> left = new ArrayList<>();
      for (TaggedResource each : orphans) {
        boolean ours = each.owner().equals(caller);
        options.say(
            "%s %s of cluster %s, created by %s%s"
                .formatted(
                    each.kind().words(), each.id(), each.cluster(), each.owner(), fate(ours)));
        if (!delete || !ours || options.dryRun || !deleted(service, each)) {
          left.add(each);
        }
      }
      options.answer(
          "%d orphans, %d left".formatted(orphans.size(), left.size()),
          Map.of("orphans", rows(orphans), "left", rows(left)));
      return (left.isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
    }
  }

  private String fate(boolean ours) {
    if (!delete) {
      return "";
    }
    if (!ours) {
      return ": stays, these credentials did not create it";
    }
    return options.dryRun ? ": would delete it" : ": deletes it";
  }

  private static List<Map<String, String>> rows(List<TaggedResource> resources) {
    return resources.stream()
        .map(
            each ->
                Map.of(
                    "kind", each.kind().words(),
                    "id", each.id(),
                    "cluster", each.cluster(),
                    "owner", each.owner()))
        .toList();
  }

  /** Whether a resource is gone, or on its way. */
  private boolean deleted(SdkEc2 service, TaggedResource orphan) {
    try {
      switch (orphan.kind()) {
        case INSTANCE -> service.terminate(List.of(orphan.id()));
        case VOLUME, INTERFACE ->
            service.deletePart(new ClusterPart(orphan.kind(), orphan.id(), ""));
        case GROUP -> service.deleteGroup(orphan.id());
      }
      return true;
    } catch (AwsException failure) {
      return switch (failure.kind()) {
        case ABSENT -> true;
        case IN_USE -> {
          options.say("  still in use; repeat the command when no instance has it any more");
          yield false;
        }
        case CAPACITY, REFUSED, EXISTS, UNAVAILABLE -> {
          options.say("  not deleted: " + failure.getMessage());
          yield false;
        }
      };
    }
  }
}
