package io.troupe.environments.harbor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The files that an {@code environment/} places into a box. A Dockerfile of FROM, WORKDIR and COPY
 * alone can be carried out without a container image: the programs of the machine stand in for its
 * base.
 *
 * @param image line that takes a container image, by file and number; empty if none does
 * @param workdir folder in which sessions begin
 * @param copies files and folders, and where they go
 */
record Dockerfile(String workdir, Map<Path, String> copies, String image) {
  /**
   * Reads a folder, which may be missing.
   *
   * @throws HarborException if it takes several containers
   */
  static Dockerfile of(Path environment) throws IOException {
    for (String compose : List.of("docker-compose.yaml", "docker-compose.yml", "compose.yaml")) {
      if (Files.exists(environment.resolve(compose))) {
        throw new HarborException(
            "%s: services need several containers, and a task has one; leave the task out"
                .formatted(environment.resolve(compose)));
      }
    }
    Path file = environment.resolve("Dockerfile");
    Map<Path, String> copies = new LinkedHashMap<>();
    if (!Files.exists(file)) {
      if (Files.isDirectory(environment)) {
        copies.put(environment, HarborTask.DEFAULT_FOLDER);
      }
      return new Dockerfile(HarborTask.DEFAULT_FOLDER, copies, "");
    }
    String workdir = HarborTask.DEFAULT_FOLDER;
    String image = "";
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      String[] words = line.split("\\s+", -1);
      boolean copy = words[0].equals("COPY") && words.length == 3 && plain(line);
      if (words[0].equals("WORKDIR") && words.length == 2 && words[1].startsWith("/")) {
        workdir = words[1];
      } else if (copy && image.isEmpty()) {
        copies.put(source(environment, words[1]), target(workdir, words[1], words[2], environment));
      } else if (!line.isEmpty() && !line.startsWith("#") && !words[0].equals("FROM")) {
        image = image.isEmpty() ? "%s: line %d (%s)".formatted(file, i + 1, line) : image;
      }
    }
    return new Dockerfile(workdir, copies, image);
  }

  private static boolean plain(String line) {
    return Stream.of("--", "*", "?", "[", "$", "..", "\\").noneMatch(line::contains);
  }

  private static Path source(Path environment, String name) {
    Path source = environment.resolve(name.startsWith("/") ? name.substring(1) : name).normalize();
    if (!source.startsWith(environment.normalize()) || !Files.exists(source)) {
      throw new HarborException(
          "%s copies %s, which is not there".formatted(environment.resolve("Dockerfile"), name));
    }
    return source;
  }

  private static String target(String workdir, String from, String to, Path environment) {
    String whole = to.equals(".") || to.equals("./") ? workdir + "/" : to;
    whole = whole.startsWith("./") ? workdir + whole.substring(1) : whole;
    whole = whole.startsWith("/") ? whole : workdir + "/" + whole;
    boolean intoFolder = whole.endsWith("/") && !Files.isDirectory(source(environment, from));
    return intoFolder
        ? whole + Path.of(from).getFileName()
        : whole.endsWith("/") ? whole.substring(0, whole.length() - 1) : whole;
  }
}
