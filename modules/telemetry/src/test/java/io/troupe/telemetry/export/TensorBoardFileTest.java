package io.troupe.telemetry.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TensorBoardFileTest {
  @TempDir private Path folder;

  /** The bytes, taken apart by hand, and read by TensorBoard's own protocol description. */
  @Test
  void file_oneRow_isFramedEvents() throws Exception {
    try (TensorBoardFile file = TensorBoardFile.create(folder, 1.0)) {
      Map<String, Double> row = new LinkedHashMap<>();
      row.put("train/loss", 0.5);
      file.numbers(2.0, 3, row);
    }
    byte[] bytes = Files.readAllBytes(folder.resolve("events.out.tfevents.0000000001.troupe"));
    String hex = HexFormat.of().formatHex(bytes);
    assertThat(hex)
        .startsWith("1800000000000000" + "a37f4b22" + "09000000000000f03f" + "1a0d")
        .contains(
            // wall_time 2.0, step 3, summary of one value: tag train/loss, simple_value 0.5
            "090000000000000040"
                + "1003"
                + "2a13"
                + "0a11"
                + "0a0a"
                + HexFormat.of().formatHex("train/loss".getBytes(StandardCharsets.US_ASCII))
                + "150000003f");
  }
}
