package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.KubernetesManifest.ManifestJob;
import io.troupe.cli.KubernetesManifest.ManifestValue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** The promises of deploy/kubernetes's manifests, as far as they show without a cluster. */
final class KubernetesManifestTest {
  private static final String PORT = "7400";

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"troupe.yaml", "jobset.yaml"})
  void objects_all_haveKindVersionAndName(String name) throws IOException {
    assertThat(KubernetesManifest.read(name).objects().stream().map(ManifestValue::new))
        .isNotEmpty()
        .allSatisfy(
            object -> {
              assertThat(object.at("apiVersion").text()).isNotEmpty();
              assertThat(object.at("kind").text()).isNotEmpty();
              assertThat(object.at("metadata", "name").text()).matches("[a-z][a-z-]*");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"troupe.yaml", "jobset.yaml"})
  void containers_startProcessesWithOptionsTheProgramTakes(String name) throws IOException {
    List<ManifestJob> jobs = KubernetesManifest.read(name).jobs();
    assertThat(jobs)
        .extracting(job -> job.arguments(0).getFirst())
        .containsExactly("train", "node");
    for (ManifestJob job : jobs) {
      for (int index = 0; index < job.pods(); index++) {
        List<String> words = job.arguments(index);
        assertThatCode(() -> Main.commandLine().parseArgs(words.toArray(String[]::new)))
            .as("%s", words)
            .doesNotThrowAnyException();
        assertThat(words)
            .contains("--tls=/keys", "--port=" + PORT, "--address=" + job.host(index))
            .noneMatch(word -> word.contains("$("));
      }
    }
    assertThat(jobs.getFirst().arguments(0)).contains("--continue", "--cluster");
    assertThat(jobs.getLast().arguments(1))
        .contains("--seed=%s:%s".formatted(jobs.getFirst().host(0), PORT), "--until-complete");
  }

  @ParameterizedTest
  @ValueSource(strings = {"troupe.yaml", "jobset.yaml"})
  void pods_mountWhatTheyHave_andAreProbedAtThePortTheyListenAt(String name) throws IOException {
    for (ManifestJob job : KubernetesManifest.read(name).jobs()) {
      List<String> volumes =
          job.pod().at("volumes").all().stream().map(each -> each.at("name").text()).toList();
      List<ManifestValue> containers = new ArrayList<>(job.pod().at("initContainers").all());
      containers.add(job.container());
      List<String> mounted = new ArrayList<>();
      for (ManifestValue container : containers) {
        assertThat(container.at("image").text()).isEqualTo("troupe:1");
        container.at("volumeMounts").all().forEach(mount -> mounted.add(mount.at("name").text()));
      }
      assertThat(mounted.stream().distinct()).containsExactlyInAnyOrderElementsOf(volumes);
      assertThat(job.container().at("ports").all())
          .extracting(port -> port.at("containerPort").text())
          .containsExactly(PORT);
      for (String probe : List.of("startupProbe", "readinessProbe", "livenessProbe")) {
        assertThat(job.container().at(probe, "tcpSocket", "port").text()).as(probe).isEqualTo(PORT);
      }
      assertThat(job.pod().at("terminationGracePeriodSeconds").number())
          .isGreaterThanOrEqualTo(120);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"troupe.yaml", "jobset.yaml"})
  void jobs_startFailedPodsAgain_butNoneThatIsRefused(String name) throws IOException {
    for (ManifestJob job : KubernetesManifest.read(name).jobs()) {
      assertThat(job.pod().at("restartPolicy").text())
          .as("podFailurePolicy allows no other")
          .isEqualTo("Never");
      assertThat(job.refusals()).containsExactly(ExitCode.USAGE.code());
      assertThat(job.spec().at("backoffLimit").number()).isGreaterThanOrEqualTo(100);
      List<ManifestValue> rules = job.spec().at("podFailurePolicy", "rules").all();
      assertThat(rules.getFirst().at("onExitCodes", "containerName").text())
          .isEqualTo(job.container().at("name").text());
      ManifestValue disruption = rules.getLast().at("onPodConditions").all().getFirst();
      assertThat(disruption.map()).isEqualTo(Map.of("type", "DisruptionTarget", "status", "True"));
      assertThat(job.spec().at("parallelism").number())
          .isEqualTo(job.spec().at("completions").number());
    }
  }

  @Test
  void jobSet_endsWithItsCoordinator_andFailsWhereAJobIsRefused() throws IOException {
    KubernetesManifest manifest = KubernetesManifest.read("jobset.yaml");
    ManifestValue set = manifest.ofKind("JobSet").getFirst().at("spec");
    assertThat(set.at("successPolicy", "targetReplicatedJobs").texts())
        .containsExactly("coordinator");
    ManifestValue rule = set.at("failurePolicy", "rules").all().getFirst();
    assertThat(rule.at("action").text()).isEqualTo("FailJobSet");
    assertThat(rule.at("onJobFailureReasons").texts()).containsExactly("PodFailurePolicy");
    assertThat(set.at("network", "subdomain").text()).isEqualTo("troupe");
    assertThat(manifest.jobs())
        .allSatisfy(job -> assertThat(job.spec().at("completionMode").text()).isEqualTo("Indexed"));
  }

  @Test
  void service_givesEachPodAName_beforeItIsReady() throws IOException {
    KubernetesManifest manifest = KubernetesManifest.read("troupe.yaml");
    ManifestValue service = manifest.ofKind("Service").getFirst();
    assertThat(service.at("spec", "clusterIP").text()).isEqualTo("None");
    assertThat(service.at("spec", "publishNotReadyAddresses").text()).isEqualTo("true");
    for (ManifestJob job : manifest.jobs()) {
      assertThat(job.pod().at("subdomain").text()).isEqualTo(service.at("metadata", "name").text());
      assertThat(job.spec().at("template", "metadata", "labels").map().entrySet().toString())
          .contains(service.at("spec", "selector").map().entrySet().iterator().next().toString());
    }
    assertThat(manifest.jobs().getLast().spec().at("completionMode").text()).isEqualTo("Indexed");
  }

  /** The commands of the head, word for word, with scripts in the programs' place. */
  @ParameterizedTest
  @ValueSource(strings = {"troupe.yaml", "jobset.yaml"})
  void head_commands_makeTheObjectsThatThePodsUse(String name) throws Exception {
    KubernetesManifest manifest = KubernetesManifest.read(name);
    Path bin = Files.createDirectory(folder.resolve("bin"));
    for (String program : List.of("kubectl", "docker", "troupe")) {
      Path script =
          Files.writeString(
              bin.resolve(program),
              """
              #!/bin/bash
              echo "%1$s $*" >> "%2$s/calls"
              case "$*" in *"-f -") cat > "%2$s/applied" ;; esac
              """
                  .formatted(program, folder));
      assertThat(script.toFile().setExecutable(true)).isTrue();
    }
    ProcessBuilder commands =
        new ProcessBuilder(
                "bash", "-ec", manifest.commands().replace("./troupe", bin.resolve("troupe") + ""))
            .directory(Path.of("../..").toFile())
            .inheritIO();
    commands.environment().merge("PATH", bin.toString(), (path, first) -> first + ":" + path);
    assertThat(commands.start().waitFor()).isZero();
    List<String> calls = Files.readAllLines(folder.resolve("calls"));
    List<String> hosts = manifest.jobs().stream().flatMap(job -> job.hosts().stream()).toList();
    assertThat(calls)
        .contains(
            "kubectl create namespace troupe",
            "kubectl -n troupe create configmap run --from-file=run.yaml=conf/16-gpu.yaml",
            "kubectl -n troupe create secret generic keys --from-file=certs/hosts/pods",
            "troupe certs issue certs pods --address " + String.join(" --address ", hosts),
            "kubectl -n troupe apply -f -");
    Iterable<Object> applied = new Yaml().loadAll(Files.readString(folder.resolve("applied")));
    assertThat(applied).hasSameSizeAs(manifest.objects());
    assertThat(Files.readString(folder.resolve("applied")))
        .contains("image: REGISTRY/troupe:1")
        .doesNotContain("image: troupe:1");
  }
}
