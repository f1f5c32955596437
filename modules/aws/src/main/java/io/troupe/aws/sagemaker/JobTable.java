package io.troupe.aws.sagemaker;

import io.troupe.base.files.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;

/** The job log: a Markdown table in which names that say nothing are explained. */
record JobTable(Path file) {
  private static final String HEAD =
      "| Job Name | Config | Description | Submitted |\n|---|---|---|---|\n";

  /** Appends the row of a job, unless the table has it. */
  void add(String job, String config, String description, OffsetDateTime submitted)
      throws IOException {
    String table = Files.exists(file) ? Files.readString(file) : HEAD;
    if (!table.contains("| " + job + " |")) {
      String row =
          "| %s | %s | %s | %s |\n"
              .formatted(
                  job, cell(config), cell(description), submitted.truncatedTo(ChronoUnit.SECONDS));
      AtomicFile.replace(
          file.toAbsolutePath(), (table.endsWith("\n") ? table : table + "\n") + row);
    }
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replaceAll("\\s+", " ").strip();
  }
}
