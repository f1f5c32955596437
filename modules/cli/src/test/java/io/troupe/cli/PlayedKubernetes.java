package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.files.FileTree;
import io.troupe.cli.KubernetesManifest.ManifestJob;
import io.troupe.cli.KubernetesManifest.ManifestValue;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

/**
 * A cluster's controllers and kubelet, played: starts the pods of a manifest's jobs as processes of
 * this host with the manifest's own arguments, volumes and names, starts those that fail again, and
 * ends a job when each of its pods has succeeded. Pods have loopback addresses, which a hosts file
 * of their JVMs gives the names.
 */
final class PlayedKubernetes implements AutoCloseable {
  /** The end of a job. */
  enum Fate {
    ACTIVE,
    COMPLETE,
    FAILED
  }

  private final Path folder;
  private final List<ManifestJob> jobs;
  private final List<String> options;
  private final Map<String, ChildRun> pods = new HashMap<>();
  private final Map<String, Integer> starts = new HashMap<>();
  private final Map<String, Fate> fates = new HashMap<>();
  private final List<String> ends = new ArrayList<>();

  /**
   * A cluster without pods.
   *
   * @param folder holds its volumes; config maps and secrets are the folders of their names in it
   */
  PlayedKubernetes(Path folder, KubernetesManifest manifest) throws IOException {
    this.folder = folder;
    this.jobs = manifest.jobs();
    int net = 1 + new Random().nextInt(250); // Another test's cluster has the same ports.
    List<String> hosts = new ArrayList<>(List.of("127.0.0.1 localhost"));
    hosts.add("127.0.0.1 " + InetAddress.getLocalHost().getHostName());
    for (ManifestJob job : jobs) {
      for (String host : job.hosts()) {
        hosts.add("127.0.%d.%d %s".formatted(net, hosts.size(), host));
      }
    }
    Path names = Files.write(folder.resolve("hosts"), hosts);
    this.options = List.of("-Djdk.net.hosts.file=" + names);
  }

  /** Starts what is to run and does not, as a controller does whenever it looks. */
  void reconcile(String... held) throws Exception {
    for (ManifestJob job : jobs) {
      for (int index = 0; index < job.pods(); index++) {
        String host = job.host(index);
        if (fate(host) == Fate.ACTIVE && !List.of(held).contains(host)) {
          look(job, index, host);
        }
      }
    }
  }

  private void look(ManifestJob job, int index, String host) throws Exception {
    ChildRun pod = pods.get(host);
    if (pod == null) {
      pods.put(host, start(job, index, host));
    } else if (!pod.survives(0)) {
      int code = pod.awaitExit();
      ends.add("%s ended with code %d; %s".formatted(host, code, pod.said()));
      pods.remove(host);
      if (job.refusals().contains(code)) {
        job.hosts().forEach(each -> fates.put(each, Fate.FAILED));
      } else if (code == 0) {
        fates.put(host, Fate.COMPLETE);
      } else {
        assertThat(starts.get(host)).as("%s", ends).isLessThan(20);
      }
    }
  }

  private ChildRun start(ManifestJob job, int index, String host) throws Exception {
    int number = starts.merge(host, 1, Integer::sum);
    Path pod = Files.createDirectories(folder.resolve("pods").resolve(host + "." + number));
    Map<String, Path> volumes = new HashMap<>();
    for (ManifestValue volume : job.pod().at("volumes").all()) {
      String name = volume.at("name").text();
      if (volume.map().containsKey("configMap")) {
        volumes.put(name, folder.resolve(volume.at("configMap", "name").text()));
      } else if (volume.map().containsKey("secret")) {
        volumes.put(name, folder.resolve(volume.at("secret", "secretName").text()));
      } else if (volume.map().containsKey("persistentVolumeClaim")) {
        volumes.put(name, Files.createDirectories(folder.resolve("claim")));
      } else {
        Path empty = Files.createDirectory(pod.resolve(name));
        Files.setPosixFilePermissions(empty, PosixFilePermissions.fromString("rwxrwxrwx"));
        volumes.put(name, empty);
      }
    }
    for (ManifestValue init : job.pod().at("initContainers").all()) {
      Map<String, Path> mounts = mounts(init, volumes);
      List<String> words =
          init.at("command").texts().stream().map(word -> mounted(word, mounts)).toList();
      Process process = new ProcessBuilder(words).inheritIO().start();
      assertThat(process.waitFor()).as("%s", words).isZero();
    }
    Map<String, Path> mounts = mounts(job.container(), volumes);
    mounts.putIfAbsent("/var/lib/troupe", Files.createDirectory(pod.resolve("home")));
    return ChildRun.start(
        new ChildRun.Place(List.of(), options),
        mounts.get("/var/lib/troupe"),
        ChildRun.Size.TOY,
        job.arguments(index).stream().map(word -> mounted(word, mounts)).toArray(String[]::new));
  }

  /** The host's own shared memory serves all. */
  private static Map<String, Path> mounts(ManifestValue container, Map<String, Path> volumes) {
    Map<String, Path> mounts = new HashMap<>();
    for (ManifestValue mount : container.at("volumeMounts").all()) {
      if (!mount.at("mountPath").text().equals("/dev/shm")) {
        mounts.put(mount.at("mountPath").text(), volumes.get(mount.at("name").text()));
      }
    }
    return mounts;
  }

  private static String mounted(String word, Map<String, Path> mounts) {
    String now = word;
    for (Map.Entry<String, Path> mount : mounts.entrySet()) {
      now = now.replace(mount.getKey() + "/", mount.getValue() + "/");
      now = now.endsWith(mount.getKey()) ? now.replace(mount.getKey(), "" + mount.getValue()) : now;
    }
    return now;
  }

  /** A pod that runs. */
  ChildRun pod(String host) {
    return Objects.requireNonNull(pods.get(host), host);
  }

  int starts(String host) {
    return starts.getOrDefault(host, 0);
  }

  Fate fate(String host) {
    return fates.getOrDefault(host, Fate.ACTIVE);
  }

  boolean complete() {
    return jobs.stream()
        .flatMap(job -> job.hosts().stream())
        .allMatch(host -> fate(host) == Fate.COMPLETE);
  }

  /** Every machine at once loses its power. */
  void killAll() {
    pods.values().forEach(ChildRun::kill);
  }

  /** Returns the ends of pods, with their last output. */
  List<String> ends() {
    return ends;
  }

  @Override
  public void close() throws IOException {
    pods.values().forEach(ChildRun::close);
    FileTree.delete(folder.resolve("pods"));
  }
}
