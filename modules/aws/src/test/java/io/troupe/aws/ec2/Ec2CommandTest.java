package io.troupe.aws.ec2;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.launch.CommandEnd;
import io.troupe.launch.PlayedSsh;
import io.troupe.testkit.AwsKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code troupe ec2} through Amazon's SDK, against a played server. */
final class Ec2CommandTest {
  @TempDir private Path folder;

  private FakeEc2Server server;
  private PlayedSsh ssh;

  @BeforeEach
  void start() throws IOException {
    AwsKeys.set();
    server = FakeEc2Server.start();
    ssh = new PlayedSsh(folder.resolve("ssh"));
    PlayedSsh.build(folder.resolve("build"));
    for (String login : List.of("ubuntu@10.0.0.1", "ubuntu@10.0.0.2")) {
      PlayedSsh.jdk(ssh.host(login).resolve("jvm/25"), "");
    }
  }

  @AfterEach
  void stop() {
    server.close();
    AwsKeys.clear();
  }

  private CommandEnd ec2(String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    all.addAll(List.of("--file", "../../conf/ec2-2x8.yaml", "--poll", "0.01"));
    all.addAll(List.of("--aws-endpoint", server.endpoint()));
    all.addAll(List.of("--state", folder.resolve("state").toString()));
    return CommandEnd.of(new Ec2Command(), all);
  }

  private CommandEnd create(String... more) {
    List<String> words =
        new ArrayList<>(List.of("create", "lab", "--hosts", folder.resolve("hosts").toString()));
    words.addAll(List.of("--ssh", ssh.program(), "--build", folder.resolve("build").toString()));
    words.addAll(List.of(more));
    return ec2(words.toArray(String[]::new));
  }

  @Test
  void create_thenDelete_writesTheHostsFileAndLeavesNothing() throws IOException {
    CommandEnd created = create();

    assertThat(created.code()).as(created.err()).isZero();
    assertThat(Files.readString(folder.resolve("hosts")))
        .isEqualTo("ubuntu@10.0.0.1\nubuntu@10.0.0.2\n");
    assertThat(created.err())
        .contains("2 hosts for 24.0 h cost at most 2641.92 USD by the prices in the file")
        .contains("ubuntu@10.0.0.2          copying the build");
    assertThat(created.out())
        .contains("next: troupe launch up FILE --hosts " + folder.resolve("hosts"))
        .contains("--ssh-option=-oUserKnownHostsFile=" + folder.resolve("state/lab.known_hosts"));
    assertThat(server.request("RunInstances"))
        .containsEntry("MinCount", "2")
        .containsEntry("MaxCount", "2")
        .containsEntry("MetadataOptions.HttpTokens", "required")
        .containsEntry("BlockDeviceMapping.1.Ebs.DeleteOnTermination", "true")
        .containsEntry("NetworkInterface.1.InterfaceType", "efa")
        .containsEntry("NetworkInterface.32.InterfaceType", "efa-only")
        .containsEntry("NetworkInterface.32.DeviceIndex", "1")
        .containsEntry("TagSpecification.2.ResourceType", "volume");
    assertThat(create().code()).isZero();
    assertThat(ec2("status", "lab").code()).isZero();
    assertThat(server.actions().stream().filter("RunInstances"::equals)).hasSize(1);

    CommandEnd deleted = ec2("delete", "lab");

    assertThat(deleted.code()).as(deleted.err()).isZero();
    assertThat(server.ec2.live()).isZero();
    assertThat(server.ec2.groups).isEmpty();
    assertThat(ec2("delete", "lab").code()).isZero();
    assertThat(ec2("orphans").code()).isZero();
  }

  @Test
  void create_answerOfTheLaunchLost_launchesOnce() {
    server
        .fail("RunInstances", 500, "InternalError", true)
        .fail("RunInstances", 503, "RequestLimitExceeded", false);

    CommandEnd created = create();

    assertThat(created.code()).as(created.err()).isZero();
    assertThat(server.ec2.live()).isEqualTo(2);
    assertThat(
            server.requests.stream()
                .filter(each -> "RunInstances".equals(each.get("Action")))
                .map(each -> each.get("ClientToken"))
                .distinct())
        .hasSize(1);
  }

  @Test
  void create_quotaExceeded_saysSoAndLeavesNothing() {
    server.fail("RunInstances", 400, "VcpuLimitExceeded", false);

    CommandEnd failed = create();

    assertThat(failed.code()).isEqualTo(4);
    assertThat(failed.err())
        .contains("VcpuLimitExceeded (a quota of this account, counted in vCPUs;")
        .contains("nothing is left of the cluster");
    assertThat(server.ec2.groups).isEmpty();
    assertThat(folder.resolve("state/lab.json")).doesNotExist();
  }

  @Test
  void create_setupFailsOnAHost_saysSoAndLeavesNothing() throws IOException {
    Files.writeString(folder.resolve("ssh/ubuntu@10.0.0.2/setup.1"), "status: error\n");

    CommandEnd failed = create();

    assertThat(failed.code()).isEqualTo(4);
    assertThat(failed.err())
        .contains("ubuntu@10.0.0.2: its setup commands failed")
        .contains("nothing is left of the cluster");
    assertThat(server.ec2.live()).isZero();
    assertThat(server.ec2.groups).isEmpty();
    assertThat(folder.resolve("hosts")).doesNotExist();
    assertThat(folder.resolve("state/lab.json")).doesNotExist();
  }

  @Test
  void create_setupFailsAfterTheClusterWasComplete_deletesNothing() throws IOException {
    assertThat(create().code()).isZero();
    Files.writeString(folder.resolve("ssh/ubuntu@10.0.0.2/setup.1"), "status: error\n");

    CommandEnd failed = create();

    assertThat(failed.code()).isEqualTo(4);
    assertThat(failed.err()).contains("what exists is kept: repeat the command");
    assertThat(server.ec2.live()).isEqualTo(2);
  }

  @Test
  void create_noPrepare_asksNoHost() {
    assertThat(create("--no-prepare").code()).isZero();

    assertThat(folder.resolve("ssh/calls")).doesNotExist();
  }

  @Test
  void create_expiredCredentialsAndSkewedClock_continuesWhenTheyAreGood() {
    server
        .fail("RunInstances", 400, "ExpiredToken", false)
        .fail("RunInstances", 403, "RequestTimeTooSkewed", false);

    CommandEnd created = create();

    assertThat(created.code()).as(created.err()).isZero();
    assertThat(created.err()).contains("the credentials have expired or are wrong, renew them");
  }

  @Test
  void create_overTheBudget_refusesAndAsksNothing() {
    CommandEnd refused = create("--set", "budget=100");

    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains("the budget is 100.00 USD");
    assertThat(server.requests).isEmpty();
  }

  @Test
  void create_overTheBudgetWithWarn_saysSoAndGoesOn() {
    CommandEnd created = create("--set", "budget=100", "--set", "on_budget=warn");

    assertThat(created.code()).as(created.err()).isZero();
    assertThat(created.err()).contains("warning: 2 hosts").contains("the budget is 100.00 USD");
  }

  @Test
  void status_costPassedTheBudget_showsItAndStopsOnlyWhenToldTo() {
    assertThat(create("--no-prepare").code()).isZero();

    CommandEnd shown = ec2("status", "lab", "--set", "budget=0.01");
    assertThat(shown.out()).contains("; budget 0.01 USD is passed, on_budget: stop");
    CommandEnd warned =
        ec2("status", "lab", "--enforce", "--set", "budget=0.01", "--set", "on_budget=warn");
    assertThat(warned.code()).isZero();
    assertThat(ec2("status", "lab", "--enforce", "--set", "budget=1e9").code()).isZero();
    assertThat(server.actions()).doesNotContain("StopInstances");

    CommandEnd stopped = ec2("status", "lab", "--enforce", "--json", "--set", "budget=0.01");

    assertThat(stopped.code()).as(stopped.err()).isZero();
    assertThat(stopped.out()).contains("\"budget_passed\":false");
    assertThat(stopped.err()).contains("the budget is passed; stops the instances");
    assertThat(server.actions()).contains("StopInstances");
  }

  @Test
  void create_dryRun_changesNothing() {
    CommandEnd shown = create("--dry-run", "--json");

    assertThat(shown.code()).as(shown.err()).isZero();
    assertThat(shown.out())
        .contains("\"first_step\":\"create the placement group\"")
        .contains("\"live\":0");
    assertThat(server.actions())
        .containsOnly(
            "DescribeInstances",
            "DescribePlacementGroups",
            "DescribeVolumes",
            "DescribeNetworkInterfaces");
    assertThat(folder.resolve("state/lab.json")).doesNotExist();
  }

  @Test
  void orphans_stateOfTheClusterLost_listsAndDeletesThem() throws IOException {
    assertThat(create().code()).isZero();
    Files.delete(folder.resolve("state/lab.json"));

    assertThat(create().err()).contains("a cluster lab exists that was created elsewhere");
    assertThat(ec2("orphans").code()).isEqualTo(1);
    assertThat(server.ec2.live()).isEqualTo(2);
    CommandEnd first = ec2("orphans", "--delete");
    assertThat(first.err()).contains("still in use; repeat the command");
    assertThat(server.ec2.live()).isZero();
    server.ec2.observe(ClusterRecord.fresh("", ""));
    assertThat(ec2("orphans", "--delete").code()).isZero();
    assertThat(server.ec2.groups).isEmpty();
  }

  private FakeEc2.PlayedPart part(String id) {
    return Objects.requireNonNull(server.ec2.parts.get(id));
  }

  @Test
  void delete_detachedVolumeThatMayNotBeDeleted_isRepeatedUntilNothingIsLeft() {
    assertThat(create("--no-prepare").code()).isZero();
    part("vol-0001").attachedTo = "";
    part("eni-0002").attachedTo = "";
    assertThat(ec2("status", "lab").out())
        .contains("volume vol-0001 is detached; ec2 delete deletes it")
        .doesNotContain("vol-0002");
    assertThat(ec2("orphans").code()).isZero();
    CommandEnd dry = ec2("delete", "lab", "--dry-run");
    assertThat(dry.err())
        .contains("would delete instance i-0001, instance i-0002")
        .contains("volume vol-0001")
        .contains("network interface eni-0002")
        .contains("placement group troupe-lab-");
    assertThat(dry.out()).contains("would first terminate i-0001, i-0002");
    server
        .fail("DeleteVolume", 403, "UnauthorizedOperation", false)
        .fail("DeleteNetworkInterface", 503, "InternalError", true);

    CommandEnd refused = ec2("delete", "lab");

    assertThat(refused.code()).isEqualTo(4);
    assertThat(refused.err())
        .contains("deletes volume vol-0001")
        .contains("DeleteVolume: status 403 UnauthorizedOperation");
    assertThat(server.ec2.parts).containsOnlyKeys("vol-0001", "eni-0002");
    assertThat(folder.resolve("state/lab.json")).exists();

    CommandEnd deleted = ec2("delete", "lab");

    assertThat(deleted.code()).as(deleted.err()).isZero();
    assertThat(server.ec2.parts).isEmpty();
    assertThat(server.ec2.groups).isEmpty();
    assertThat(folder.resolve("state/lab.json")).doesNotExist();
  }

  @Test
  void orphans_partsOfAForgottenCluster_areDeletedOneByOne() throws IOException {
    assertThat(create("--no-prepare").code()).isZero();
    part("vol-0001").attachedTo = "";
    part("vol-0002").attachedTo = "i-foreign";
    part("eni-0001").attachedTo = "";
    Files.delete(folder.resolve("state/lab.json"));
    server.ec2.interrupt();
    server.ec2.interrupt();
    server.ec2.observe(ClusterRecord.fresh("", ""));

    CommandEnd dry = ec2("orphans", "--delete", "--dry-run", "--json");
    assertThat(dry.code()).isEqualTo(1);
    assertThat(dry.err()).contains("volume vol-0001 of cluster lab").contains("would delete it");
    assertThat(dry.out()).contains("\"kind\":\"network interface\"");
    server.fail("DeleteVolume", 403, "UnauthorizedOperation", false);

    CommandEnd first = ec2("orphans", "--delete");

    assertThat(first.code()).isEqualTo(1);
    assertThat(first.err()).contains("not deleted: DeleteVolume: status 403").contains("in use");
    assertThat(server.ec2.groups).isEmpty();
    assertThat(server.ec2.parts).doesNotContainKey("eni-0001").containsKey("vol-0001");
    part("vol-0002").attachedTo = "";
    assertThat(ec2("orphans", "--delete").code()).isZero();
    assertThat(server.ec2.parts).isEmpty();
    assertThat(ec2("orphans").code()).isZero();
  }
}
