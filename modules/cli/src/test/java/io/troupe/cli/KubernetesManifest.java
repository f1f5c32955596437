package io.troupe.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.yaml.snakeyaml.Yaml;

/** A file of deploy/kubernetes, as the cluster reads it: its objects, jobs and pods. */
record KubernetesManifest(String text, List<Object> objects) {
  private static final Path FOLDER = Path.of("../../deploy/kubernetes");
  private static final String COMMENT = "#   ";

  /** A value of a manifest. */
  record ManifestValue(Object value) {
    /** Returns the value at a path of keys; an empty map where the path ends before. */
    ManifestValue at(String... keys) {
      Object now = value;
      for (String key : keys) {
        now = now instanceof Map<?, ?> map && map.containsKey(key) ? map.get(key) : Map.of();
      }
      return new ManifestValue(now);
    }

    /** The elements of a list; none if it is no list. */
    List<ManifestValue> all() {
      return value instanceof List<?> list
          ? list.stream().map(ManifestValue::new).toList()
          : List.of();
    }

    /** The texts of the elements of a list. */
    List<String> texts() {
      return all().stream().map(ManifestValue::text).toList();
    }

    String text() {
      return value instanceof Map<?, ?> map && map.isEmpty() ? "" : String.valueOf(value);
    }

    int number() {
      return value instanceof Integer number ? number : 0;
    }

    Map<?, ?> map() {
      return (Map<?, ?>) value;
    }
  }

  /**
   * A job, whether it is an object of its own or of a set.
   *
   * @param name of its pods, without their index
   * @param subdomain of its pods that the job's set gives them, if it is in one
   */
  record ManifestJob(String name, Optional<String> subdomain, ManifestValue spec) {
    ManifestValue pod() {
      return spec.at("template", "spec");
    }

    ManifestValue container() {
      return pod().at("containers").all().getFirst();
    }

    int pods() {
      return Math.max(1, spec.at("completions").number());
    }

    /** The name by which other pods find the pod of an index. */
    String host(int index) {
      String given = pod().at("hostname").text();
      String own = given.isEmpty() ? name + "-" + index : given;
      return own + "." + subdomain.orElse(pod().at("subdomain").text());
    }

    List<String> hosts() {
      return IntStream.range(0, pods()).mapToObj(this::host).toList();
    }

    /** The arguments of the pod of an index, with its variables filled in. */
    List<String> arguments(int index) {
      return container().at("args").texts().stream()
          .map(word -> word.replace("$(INDEX)", Integer.toString(index)))
          .toList();
    }

    /** Exit codes with which the job fails at once. */
    List<Integer> refusals() {
      List<Integer> codes = new ArrayList<>();
      for (ManifestValue rule : spec.at("podFailurePolicy", "rules").all()) {
        if (rule.at("action").text().equals("FailJob")) {
          rule.at("onExitCodes", "values").all().forEach(code -> codes.add(code.number()));
        }
      }
      return codes;
    }
  }

  static KubernetesManifest read(String name) throws IOException {
    String text = Files.readString(FOLDER.resolve(name));
    return new KubernetesManifest(
        text, StreamSupport.stream(new Yaml().loadAll(text).spliterator(), false).toList());
  }

  List<ManifestValue> ofKind(String kind) {
    return objects.stream()
        .map(ManifestValue::new)
        .filter(object -> object.at("kind").text().equals(kind))
        .toList();
  }

  List<ManifestJob> jobs() {
    List<ManifestJob> jobs = new ArrayList<>();
    for (ManifestValue job : ofKind("Job")) {
      jobs.add(
          new ManifestJob(job.at("metadata", "name").text(), Optional.empty(), job.at("spec")));
    }
    for (ManifestValue set : ofKind("JobSet")) {
      for (ManifestValue job : set.at("spec", "replicatedJobs").all()) {
        jobs.add(
            new ManifestJob(
                "%s-%s-0".formatted(set.at("metadata", "name").text(), job.at("name").text()),
                Optional.of(set.at("spec", "network", "subdomain").text()),
                job.at("template", "spec")));
      }
    }
    return jobs;
  }

  /** The commands that the head of the file has a person give. */
  String commands() {
    return text.lines()
        .filter(line -> line.startsWith(COMMENT))
        .map(line -> line.substring(COMMENT.length()))
        .collect(Collectors.joining("\n"));
  }
}
