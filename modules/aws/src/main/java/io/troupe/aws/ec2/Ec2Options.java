package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsOptions;
import io.troupe.aws.client.RecordFolder;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of every command about clusters on EC2. */
final class Ec2Options extends AwsOptions {
  @Option(
      names = "--file",
      paramLabel = "FILE",
      required = true,
      description = "What the cluster consists of; conf/ec2-2x8.yaml is an example.")
  private Path file = Path.of("");

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Overrides a key of FILE.")
  private List<String> overrides = new ArrayList<>();

  @Option(names = "--dry-run", description = "Say what would be done; change nothing.")
  boolean dryRun;

  Ec2File load() {
    return Ec2File.load(file, overrides);
  }

  RecordFolder<ClusterRecord> folder() throws IOException {
    return new RecordFolder<>(state("ec2"), ClusterRecord.class, ClusterRecord::name);
  }

  /** Keys of a cluster's hosts, as ssh met them first. */
  Path knownHosts(String cluster) {
    return state("ec2").resolve(cluster + ".known_hosts").toAbsolutePath();
  }

  SdkEc2 service(Ec2File loaded) {
    return new SdkEc2(clients(loaded.region()));
  }
}
