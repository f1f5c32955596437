package io.troupe.store.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.store.checkpoint.CheckpointManifest;
import io.troupe.store.file.FormatException;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.RunJournal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files of each format, as they were written when it was made. What this program writes must be
 * what it read: a change of an event or of the state is a new version of its format.
 */
final class FormatsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  private static byte[] golden(String name) throws IOException {
    return FormatsTest.class.getResourceAsStream(name).readAllBytes();
  }

  private static List<String> records() throws IOException {
    return new String(golden("journal-3.jsonl"), UTF_8).lines().toList();
  }

  @Test
  void entry_goldenRecords_areReadAndWrittenAsTheyWere() throws IOException {
    Set<Class<?>> kinds = new HashSet<>();
    for (String record : records()) {
      RunJson.Entry entry = RunJson.entry("golden", record.getBytes(UTF_8));
      entry.events().forEach(event -> kinds.add(event.getClass()));
      assertThat(new String(RunJson.encode(entry), UTF_8)).isEqualTo(record);
    }
    assertThat(kinds).containsExactlyInAnyOrder(Event.class.getPermittedSubclasses());
  }

  @Test
  void snapshot_golden_isReadAndWrittenAsItWas() throws IOException {
    byte[] golden = golden("state-3.json");
    StateSnapshot snapshot = RunJson.snapshot(Path.of("state.json"), golden);
    assertThat(new String(RunJson.encode(snapshot), UTF_8)).isEqualTo(new String(golden, UTF_8));
    RunState state = snapshot.state();
    assertThat(state.balanced()).isTrue();
    assertThat(state.buffered()).isNotEmpty();
    assertThat(state.leases()).isNotEmpty();
  }

  /** Every field of every event and of the state, one after the other. */
  @TestFactory
  List<DynamicTest> read_fieldMissing_isRefusedNamingTheFile() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (String record : records()) {
      JsonNode tree = JSON.readTree(record);
      for (JsonNode at : objects(tree, new ArrayList<>())) {
        for (String field : fields(at)) {
          tests.add(
              DynamicTest.dynamicTest(
                  record.length() + " " + field,
                  () -> {
                    byte[] without = without(tree, at, field);
                    assertThatThrownBy(() -> RunJson.entry("record 7 of 000001.journal", without))
                        .isInstanceOf(FormatException.class)
                        .hasMessageStartingWith("record 7 of 000001.journal ")
                        .hasMessageContaining(
                            "read the journal with the version of Troupe that wrote it");
                  }));
        }
      }
    }
    JsonNode state = JSON.readTree(golden("state-3.json"));
    for (JsonNode at : objects(state, new ArrayList<>())) {
      for (String field : fields(at)) {
        tests.add(
            DynamicTest.dynamicTest(
                "state " + field,
                () -> {
                  byte[] without = without(state, at, field);
                  assertThatThrownBy(() -> RunJson.snapshot(Path.of("x/state.json"), without))
                      .isInstanceOf(FormatException.class)
                      .hasMessageStartingWith("x/state.json ");
                }));
      }
    }
    return tests;
  }

  private static List<JsonNode> objects(JsonNode tree, List<JsonNode> found) {
    if (tree.isObject()) {
      found.add(tree);
    }
    tree.forEach(child -> objects(child, found));
    return found;
  }

  private static List<String> fields(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    names.removeIf(name -> name.matches("[0-9]+|rollout/[0-9]+")); // keys of a map
    names.remove("episodes"); // a group of single turns has none
    return names;
  }

  private static synchronized byte[] without(JsonNode tree, JsonNode at, String field)
      throws IOException {
    ObjectNode object = (ObjectNode) at;
    Map<String, JsonNode> before = new LinkedHashMap<>();
    at.properties().forEach(entry -> before.put(entry.getKey(), entry.getValue()));
    object.remove(field);
    byte[] bytes = JSON.writeValueAsBytes(tree);
    object.setAll(before);
    return bytes;
  }

  @Test
  void entry_withoutVersion_isOfVersionZeroAndRefused() throws IOException {
    byte[] old = "{\"at\":1,\"events\":[]}".getBytes(UTF_8);
    assertThatThrownBy(() -> RunJson.entry("record 1 of 000001.journal", old))
        .hasMessage(
            "record 1 of 000001.journal has format 0, and this version of Troupe reads format 3;"
                + " read the journal with the version of Troupe that wrote it, which run.json"
                + " names");
    try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
      journal.append(List.of(old));
    }
    try (RunJournal journal = RunJournal.open(folder)) {
      assertThatThrownBy(journal::next)
          .hasMessageStartingWith("record 1 of " + folder.resolve("000001.journal") + " has");
      assertThat(journal.next()).isEmpty();
    }
  }

  @Test
  void entry_ofALaterVersion_namesBothVersionsWhateverItHolds() {
    byte[] later = "{\"v\":4,\"at\":1,\"events\":[{\"type\":\"Unheard\"}],\"x\":1}".getBytes(UTF_8);
    assertThatThrownBy(() -> RunJson.entry("r", later))
        .hasMessageStartingWith("r has format 4, and this version of Troupe reads format 3; ");
  }

  @Test
  void entry_ofFormatOneWithAnEventOfAnOldName_namesBothVersionsAndTheRemedy() {
    for (String renamed : List.of("GroupSpoiled", "TokensWeighed")) {
      byte[] old =
          "{\"v\":1,\"at\":1,\"events\":[{\"type\":\"%s\"}]}".formatted(renamed).getBytes(UTF_8);
      assertThatThrownBy(() -> RunJson.entry("record 7 of 000001.journal", old))
          .isInstanceOf(FormatException.class)
          .hasMessage(
              "record 7 of 000001.journal has format 1, and this version of Troupe reads format 3;"
                  + " read the journal with the version of Troupe that wrote it, which run.json"
                  + " names");
    }
  }

  @Test
  void snapshot_ofFormatOne_isRefusedBeforeARunIsResumedIntoItsJournal() throws IOException {
    String old = new String(golden("state-3.json"), UTF_8).replaceFirst("3", "1");
    assertThatThrownBy(() -> RunJson.snapshot(Path.of("x/state.json"), old.getBytes(UTF_8)))
        .isInstanceOf(FormatException.class)
        .hasMessage(
            "x/state.json has format 1, and this version of Troupe reads format 3; resume the run"
                + " with the version of Troupe that wrote it, which run.json names, or begin a new"
                + " run");
  }

  @Test
  void entry_unknownEventOrField_saysWhich() {
    assertThatThrownBy(
            () ->
                RunJson.entry(
                    "r", "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"Unheard\"}]}".getBytes(UTF_8)))
        .hasMessageStartingWith(
            "r is of format 3 and has a Event of type \"Unheard\", which this version does not"
                + " know; ");
    assertThatThrownBy(
            () ->
                RunJson.entry(
                    "r",
                    "{\"v\":3,\"at\":1,\"events\":[{\"type\":\"StepTrained\",\"step\":1,\"by\":2}]}"
                        .getBytes(UTF_8)))
        .hasMessageStartingWith(
            "r is of format 3 and has a field \"by\" in a StepTrained, which this version does not"
                + " know; ");
  }

  @Test
  void snapshot_ofTheFirstVersion_isRefusedWithTheNextStep() throws IOException {
    Path file = folder.resolve("state.json");
    Files.writeString(file, "{\"phase\":{\"type\":\"Running\"},\"version\":3}");
    assertThatThrownBy(() -> StateSnapshot.read(file))
        .isInstanceOf(FormatException.class)
        .hasMessage(
            file
                + " has format 0, and this version of Troupe reads format 3; resume the run with"
                + " the version of Troupe that wrote it, which run.json names, or begin a new run");
    assertThat(StateSnapshot.read(folder.resolve("nothing"))).isEqualTo(Optional.empty());
  }

  @Test
  void manifest_golden_isReadAndOthersAreRefused() throws IOException {
    Files.write(folder.resolve("manifest.json"), golden("manifest-2.json"));
    assertThat(CheckpointManifest.read(folder))
        .isEqualTo(
            new CheckpointManifest(
                2,
                7,
                "2026-11-22T18:00:00Z",
                List.of(new CheckpointManifest.Entry("state.json", 2, "44136fa3"))));
    for (String field : List.of("format", "step", "created", "files")) {
      ObjectNode manifest = (ObjectNode) JSON.readTree(golden("manifest-2.json"));
      manifest.remove(field);
      Files.write(folder.resolve("manifest.json"), JSON.writeValueAsBytes(manifest));
      assertThatThrownBy(() -> CheckpointManifest.read(folder)).isInstanceOf(IOException.class);
    }
    ObjectNode later = (ObjectNode) JSON.readTree(golden("manifest-2.json"));
    later.put("format", 1);
    Files.write(folder.resolve("manifest.json"), JSON.writeValueAsBytes(later));
    assertThatThrownBy(() -> CheckpointManifest.read(folder))
        .hasMessageContaining(
            "checkpoint format 1, and this version reads 2; use the version of Troupe that wrote"
                + " it");
  }
}
