package io.troupe.aws.ec2;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.RecordFolder;
import io.troupe.aws.ec2.Ec2Service.TaggedResource;
import io.troupe.aws.ec2.plan.ClusterGoal;
import io.troupe.aws.ec2.plan.ClusterPlan;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.ObservedCluster;
import io.troupe.aws.ec2.plan.ResourceKind;
import io.troupe.base.files.AtomicFile;
import io.troupe.base.process.ExitCode;
import io.troupe.launch.remote.RemoteHosts;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;

/**
 * Gives a cluster a number of instances that are fit for a launch, within its budget; a creation
 * that fails leaves nothing.
 *
 * @param keep whether a failure deletes nothing
 */
record ClusterSizing(
    String name, Ec2Options options, PreparationOptions preparation, boolean keep) {
  /**
   * Reaches a number of instances.
   *
   * @return the exit code
   */
  int reach(Ec2File file, int count) throws IOException, InterruptedException {
    Ec2Command.checkName(name, options);
    double estimate = file.estimate(count);
    String cost =
        ClusterReport.text(
            "%d hosts for %.1f h cost at most %.2f USD by the prices in the file, volumes and"
                + " traffic not counted",
            count, file.budget().hours(), estimate);
    if (file.budget().passed(estimate)) {
      String over = ClusterReport.text("%s; the budget is %.2f USD", cost, file.budget().budget());
      if (file.budget().onBudget() == Ec2File.OnBudget.STOP) {
        throw options.bad(over + "; choose less, or on_budget: warn");
      }
      options.say("warning: " + over);
    } else {
      options.say(cost);
    }
    RecordFolder<ClusterRecord> folder = options.folder();
    try (SdkEc2 service = options.service(file);
        FileChannel _ = folder.lock(name)) {
      ClusterRecord known = folder.read(name).orElse(ClusterRecord.fresh(name, nonce()));
      ClusterGoal goal = new ClusterGoal.Running(count);
      if (options.dryRun) {
        return Ec2Command.preview(options, new ClusterPlan(file), goal, known, service);
      }
      refuseNamesake(service, known);
      folder.write(known);
      ClusterDriver driver =
          new ClusterDriver(service, file, known, folder::write, options.surroundings());
      try {
        ObservedCluster reached = driver.reach(goal, preparation.patience());
        Path hosts = preparation.hosts(name);
        AtomicFile.replace(hosts, ClusterReport.hostsFile(file, reached));
        Path keys = options.knownHosts(name);
        preparation.prepare(hosts, keys, options);
        driver.complete();
        Map<String, Object> answer = ClusterReport.description(name, file, reached);
        answer.put("hosts", hosts.toString());
        answer.put("estimate_usd", estimate);
        answer.put("next", preparation.next(hosts, keys));
        options.answer(
            "%d hosts, in %s%nnext: %s".formatted(count, hosts, preparation.next(hosts, keys)),
            answer);
        return ExitCode.OK.code();
      } catch (AwsException | RemoteHosts.NotReadyException failure) {
        throw undone(driver, folder, failure);
      }
    }
  }

  /** Deletes what a failed creation made; what the caller throws says what is left. */
  private IOException undone(
      ClusterDriver driver, RecordFolder<ClusterRecord> folder, Exception failure)
      throws IOException, InterruptedException {
    if (keep || driver.known().created()) {
      return new IOException(
          "%s; what exists is kept: repeat the command, or troupe ec2 delete %s"
              .formatted(failure.getMessage(), name),
          failure);
    }
    options.say("failed, deletes what was made: " + failure.getMessage());
    try {
      driver.reach(new ClusterGoal.Deleted(), Duration.ofMinutes(15));
      Ec2Command.forget(name, folder, options);
      Files.deleteIfExists(preparation.hosts(name));
      return new IOException(failure.getMessage() + "; nothing is left of the cluster", failure);
    } catch (AwsException second) {
      return new IOException(
          "%s; and deleting what was made failed: %s; run troupe ec2 delete %s"
              .formatted(failure.getMessage(), second.getMessage(), name),
          second);
    }
  }

  private void refuseNamesake(SdkEc2 service, ClusterRecord known) throws AwsException {
    for (TaggedResource each : service.tagged()) {
      boolean part = each.kind() == ResourceKind.VOLUME || each.kind() == ResourceKind.INTERFACE;
      if (!part && each.cluster().equals(known.name()) && !each.nonce().equals(known.nonce())) {
        throw options.bad(
            "a cluster %s exists that was created elsewhere, by %s (%s); choose another name, or"
                    .formatted(known.name(), each.owner(), each.id())
                + " see troupe ec2 orphans");
      }
    }
  }

  private static String nonce() {
    return Long.toString(new SecureRandom().nextLong() & Long.MAX_VALUE, 36);
  }
}
