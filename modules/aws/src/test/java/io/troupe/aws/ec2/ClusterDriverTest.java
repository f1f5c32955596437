package io.troupe.aws.ec2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.aws.client.AwsException;
import io.troupe.aws.client.AwsException.Kind;
import io.troupe.aws.client.PlayedSurroundings;
import io.troupe.aws.ec2.plan.ClusterGoal;
import io.troupe.aws.ec2.plan.ClusterInstance;
import io.troupe.aws.ec2.plan.ClusterPart;
import io.troupe.aws.ec2.plan.ClusterRecord;
import io.troupe.aws.ec2.plan.Ec2File;
import io.troupe.aws.ec2.plan.ObservedCluster;
import io.troupe.aws.ec2.plan.ResourceKind;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Clusters under lost answers, late views, missing capacity and processes that die. */
final class ClusterDriverTest {
  private static final Path SHIPPED = Path.of("../../conf/ec2-2x8.yaml");
  private static final Duration PATIENCE = Duration.ofHours(10);

  private final FakeEc2 ec2 = new FakeEc2();
  private ClusterRecord stored = ClusterRecord.fresh("lab", "n1");
  private final PlayedSurroundings here = new PlayedSurroundings(() -> {});

  /** The process dies after or before a request. */
  private static final class ProcessDied extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static final Ec2File FILE = Ec2File.load(SHIPPED, List.of());

  private static Ec2File file(String... overrides) {
    return overrides.length == 0 ? FILE : Ec2File.load(SHIPPED, List.of(overrides));
  }

  private ClusterDriver driver(Ec2Service service, Ec2File file) {
    return new ClusterDriver(service, file, stored, record -> stored = record, here);
  }

  /** Requests fail before or after they were done, and processes die there, at random. */
  private Ec2Service unreliable(SplittableRandom random, int most) {
    return (Ec2Service)
        Proxy.newProxyInstance(
            Ec2Service.class.getClassLoader(),
            new Class<?>[] {Ec2Service.class},
            (_, method, arguments) -> {
              int fate = random.nextInt(100);
              if (fate < 10) {
                throw FakeEc2.refusal(Kind.UNAVAILABLE, "InternalError");
              }
              if (fate < 15) {
                throw new ProcessDied();
              }
              Object answer;
              try {
                answer = method.invoke(ec2, arguments);
              } catch (InvocationTargetException refused) {
                throw refused.getCause();
              }
              assertThat(ec2.live()).isLessThanOrEqualTo(most);
              if (fate < 25) {
                throw FakeEc2.refusal(Kind.UNAVAILABLE, "RequestLimitExceeded");
              }
              if (fate < 30) {
                throw new ProcessDied();
              }
              return answer;
            });
  }

  /** Starts processes until one reaches the goal. */
  private ObservedCluster insist(Ec2Service service, Ec2File file, ClusterGoal goal)
      throws AwsException, IOException, InterruptedException {
    while (true) {
      try {
        return driver(service, file).reach(goal, PATIENCE);
      } catch (ProcessDied _) {
        here.now += 1_000; // somebody repeats the command
      }
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void reach_failuresAtEveryRequest_launchesNothingTwiceAndLeavesNothing(long seed)
      throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    ec2.delay = random.nextInt(4);
    ec2.capacity.put("p5.48xlarge", random.nextInt(6));
    int first = 1 + random.nextInt(3);
    int second = 1 + random.nextInt(3);
    Ec2Service service = unreliable(random, Math.max(first, second));

    assertThat(insist(service, file(), new ClusterGoal.Running(first)).live()).hasSize(first);
    assertThat(ec2.live()).isEqualTo(first);
    ec2.capacity.clear();
    if (random.nextBoolean()) {
      ec2.interrupt();
    }
    assertThat(insist(service, file(), new ClusterGoal.Running(second)).live()).hasSize(second);
    assertThat(ec2.live()).isEqualTo(second);
    for (FakeEc2.PlayedPart each : ec2.parts.values()) {
      each.kept = random.nextBoolean();
      if (random.nextInt(4) == 0) {
        each.attachedTo = "";
      }
    }
    insist(service, file(), new ClusterGoal.Deleted());

    assertThat(ec2.live()).isZero();
    assertThat(ec2.parts).isEmpty();
    assertThat(ec2.groups).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void reach_deletedWhileALaunchHasNoAnswer_leavesNothing(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    ec2.delay = random.nextInt(5);
    Ec2Service service = unreliable(random, 2);
    try {
      driver(service, file()).reach(new ClusterGoal.Running(2), Duration.ofSeconds(5));
    } catch (ProcessDied | AwsException _) {
      // wherever it was
    }
    insist(service, file(), new ClusterGoal.Deleted());

    for (int look = 0; look < 20; look++) {
      ec2.observe(stored);
    }
    assertThat(ec2.live()).isZero();
    assertThat(ec2.parts).isEmpty();
    assertThat(ec2.groups).isEmpty();
  }

  @Test
  void reach_noCapacityForTheFirstType_takesTheNext() throws Exception {
    ec2.capacity.put("p5.48xlarge", 1);

    ObservedCluster reached = driver(ec2, file()).reach(new ClusterGoal.Running(2), PATIENCE);

    assertThat(reached.live())
        .extracting(each -> each.place().type())
        .containsExactly("p4de.24xlarge", "p4de.24xlarge");
    assertThat(ec2.requests)
        .containsExactly("group", "launch troupe-n1-0", "launch troupe-n1-1", "launch troupe-n1-2");
  }

  @Test
  void reach_noCapacityAnywhere_givesUpInTimeAndHasLaunchedNothing() {
    ec2.capacity.put("p5.48xlarge", 0);
    ec2.capacity.put("p4de.24xlarge", 0);

    assertThatThrownBy(
            () -> driver(ec2, file()).reach(new ClusterGoal.Running(2), Duration.ofMinutes(10)))
        .isInstanceOf(AwsException.class)
        .hasMessage("not done after 600 s; last: capacity, which no offer of the file has now");
    assertThat(ec2.instances).isEmpty();
  }

  @Test
  void reach_fewerHosts_terminatesTheLastLaunched() throws Exception {
    driver(ec2, file()).reach(new ClusterGoal.Running(3), PATIENCE);

    ObservedCluster reached = driver(ec2, file()).reach(new ClusterGoal.Running(1), PATIENCE);

    assertThat(reached.live()).extracting(ClusterInstance::id).containsExactly("i-0001");
  }

  @Test
  void reach_stoppedAndRunningAgain_keepsTheInstances() throws Exception {
    driver(ec2, file()).reach(new ClusterGoal.Running(2), PATIENCE);
    driver(ec2, file()).reach(new ClusterGoal.Stopped(), PATIENCE);
    assertThat(ec2.instances.values())
        .extracting(each -> each.state)
        .containsOnly(ClusterInstance.State.STOPPED);

    ObservedCluster reached = driver(ec2, file()).reach(new ClusterGoal.Running(2), PATIENCE);

    assertThat(reached.live()).extracting(ClusterInstance::id).containsExactly("i-0001", "i-0002");
    assertThat(ec2.requests).containsExactly("group", "launch troupe-n1-0");
  }

  @Test
  void reach_spotClusterStopped_refuses() {
    assertThatThrownBy(
            () -> driver(ec2, file("spot=true")).reach(new ClusterGoal.Stopped(), PATIENCE))
        .hasMessage("spot instances cannot be stopped; delete the cluster");
  }

  @Test
  void reach_deletedWithAVolumeOnAForeignInstance_leavesThatOneOnly() throws Exception {
    driver(ec2, file()).reach(new ClusterGoal.Running(2), PATIENCE);
    part("vol-0001").attachedTo = "i-foreign";
    part("vol-0002").attachedTo = "";
    part("eni-0001").attachedTo = "";

    ObservedCluster reached = driver(ec2, file()).reach(new ClusterGoal.Deleted(), PATIENCE);

    assertThat(ec2.parts).containsOnlyKeys("vol-0001");
    assertThat(reached.attachedElsewhere())
        .containsExactly(new ClusterPart(ResourceKind.VOLUME, "vol-0001", "i-foreign"));
  }

  private FakeEc2.PlayedPart part(String id) {
    return Objects.requireNonNull(ec2.parts.get(id));
  }
}
