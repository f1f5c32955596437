package io.troupe.gym.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.DurableFiles;
import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.student.Students;
import io.troupe.store.file.DiskFailureException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;

/**
 * The folder of one student, which appears whole: it is written beside its place and renamed.
 * {@code student.json} says what it was trained on, so that the same training is not done again.
 */
final class StudentFolder {
  /** Writes the weights of a student. */
  @FunctionalInterface
  interface Training {
    Students.Outcome into(Path fresh) throws IOException;
  }

  private final Path folder;

  StudentFolder(Path folder) {
    this.folder = folder;
  }

  /** Returns the digest of all that a training depends on. */
  static String key(String base, List<TrainingRow> rows, long seed) {
    MessageDigest digest = Sha256.digest();
    digest.update((base + "\n" + seed + "\n").getBytes(StandardCharsets.UTF_8));
    for (TrainingRow row : rows) {
      digest.update(
          (row.item().prompt() + "\u0000" + row.response() + "\u0000")
              .getBytes(StandardCharsets.UTF_8));
    }
    return Sha256.hex(digest);
  }

  /** Trains, unless the folder holds the student of the same training. */
  Students.Outcome once(String key, Training training) throws IOException {
    Path manifest = folder.resolve(Students.MANIFEST);
    if (Files.isRegularFile(manifest)) {
      JsonNode done = GymJson.LINE.readTree(Files.readAllBytes(manifest));
      if (done.path("key").asText().equals(key)) {
        return new Students.Outcome.Fitted(
            done.path("steps").asInt(), done.path("loss").asDouble());
      }
    }
    Path fresh = folder.resolveSibling("." + folder.getFileName() + ".tmp");
    try {
      Files.createDirectories(DurableFiles.parent(folder));
      FileTree.delete(fresh);
      Students.Outcome outcome = training.into(fresh);
      if (outcome instanceof Students.Outcome.Fitted(int steps, double loss)) {
        ObjectNode said = GymJson.LINE.createObjectNode();
        said.put("key", key).put("steps", steps).put("loss", loss);
        DurableFiles.write(
            fresh.resolve(Students.MANIFEST), said.toString().getBytes(StandardCharsets.UTF_8));
        FileTree.replace(folder, fresh);
      }
      return outcome;
    } catch (Students.StoppedTrainingException | Students.FailedTrainingException told) {
      throw told;
    } catch (IOException failure) {
      throw DiskFailureException.explain("write the student", folder, failure);
    }
  }

  /** Returns the digest of all files. */
  String digest() throws IOException {
    MessageDigest digest = Sha256.digest();
    for (Path file : FileTree.files(folder)) {
      digest.update(folder.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
      Sha256.add(digest, file);
    }
    return Sha256.hex(digest);
  }
}
