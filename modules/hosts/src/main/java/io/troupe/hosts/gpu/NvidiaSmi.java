package io.troupe.hosts.gpu;

import io.troupe.base.process.SearchPath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * Asks {@code nvidia-smi}. With a broken driver that program hangs, some times beyond any signal:
 * it is given a deadline, and left behind if it does not even die.
 */
public final class NvidiaSmi implements GpuProbe {
  /** The program's name, looked up in the path. */
  public static final String COMMAND = "nvidia-smi";

  private static final String GPUS = "index,uuid,memory.total,memory.used,utilization.gpu,name";
  private static final String PROCESSES = "gpu_uuid,pid,used_memory,process_name";
  private static final String FORMAT = "--format=csv,noheader,nounits";
  private static final int GPU_FIELDS = 6;
  private static final int PROCESS_FIELDS = 4;
  private static final long MIB = 1 << 20;
  private static final int QUOTED = 120;
  private static final Duration DEATH = Duration.ofSeconds(1);

  private final List<String> command;
  private final Duration deadline;

  /**
   * A probe.
   *
   * @param command the program and what goes before its options
   * @param deadline of one question; two are asked
   */
  public NvidiaSmi(List<String> command, Duration deadline) {
    this.command = List.copyOf(command);
    this.deadline = deadline;
  }

  /** Whether the program is in the path. */
  public static boolean installed() {
    return SearchPath.find(COMMAND).isPresent();
  }

  @Override
  public List<Gpu> read() throws GpuProbeException {
    String gpus = query("--query-gpu=" + GPUS);
    return parse(gpus, query("--query-compute-apps=" + PROCESSES));
  }

  private String query(String question) throws GpuProbeException {
    List<String> line = new ArrayList<>(command);
    line.add(question);
    line.add(FORMAT);
    try {
      // Files, not pipes: a child that is beyond killing would keep a pipe's reader waiting.
      Path output = Files.createTempFile("troupe-gpus", ".csv");
      Path errors = Files.createTempFile("troupe-gpus", ".err");
      try {
        Process process =
            new ProcessBuilder(line)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile())
                .start();
        await(process);
        if (process.exitValue() != 0) {
          throw new GpuProbeException(
              "%s ended with exit code %d: %s; run it by hand, the driver may need a reload or the host a restart"
                  .formatted(
                      command.getFirst(),
                      process.exitValue(),
                      quoted(Files.readString(output) + Files.readString(errors))));
        }
        return Files.readString(output, StandardCharsets.UTF_8);
      } finally {
        Files.deleteIfExists(output);
        Files.deleteIfExists(errors);
      }
    } catch (IOException absent) {
      throw new GpuProbeException(
          "%s cannot be run (%s); install the NVIDIA driver, or set gpus: {virtual: N} for a host without GPUs"
              .formatted(command.getFirst(), absent.getMessage()),
          absent);
    }
  }

  private void await(Process process) throws GpuProbeException {
    try {
      if (process.waitFor(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
        return;
      }
      process.destroyForcibly();
      boolean dead = process.waitFor(DEATH.toNanos(), TimeUnit.NANOSECONDS);
      throw new GpuProbeException(
          "%s gave no answer for %d s%s; the driver hangs: restart the host"
              .formatted(
                  command.getFirst(),
                  deadline.toSeconds(),
                  dead ? "" : " and cannot be killed (pid %d)".formatted(process.pid())));
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new GpuProbeException("interrupted while asking " + command.getFirst(), interrupted);
    }
  }

  /** Reads both answers. */
  static List<Gpu> parse(String gpus, String processes) throws GpuProbeException {
    List<String[]> held = rows(processes, PROCESS_FIELDS);
    List<Gpu> found = new ArrayList<>();
    for (String[] row : rows(gpus, GPU_FIELDS)) {
      List<Gpu.GpuProcess> holders = new ArrayList<>();
      for (String[] process : held) {
        if (process[0].equals(row[1])) {
          holders.add(
              new Gpu.GpuProcess(number(process, 1), process[3], MIB * orUnknown(process[2])));
        }
      }
      int utilisation = orUnknown(row[4]);
      found.add(
          new Gpu(
              number(row, 0),
              row[1],
              row[5],
              MIB * number(row, 2),
              MIB * orUnknown(row[3]),
              isNumber(row[4]) ? OptionalInt.of(utilisation) : OptionalInt.empty(),
              holders));
    }
    found.sort(Comparator.comparingInt(Gpu::index));
    return List.copyOf(found);
  }

  /** Lines as fields; the last, a name, may hold commas. */
  private static List<String[]> rows(String csv, int fields) throws GpuProbeException {
    List<String[]> rows = new ArrayList<>();
    for (String line : csv.lines().filter(line -> !line.isBlank()).toList()) {
      String[] row = line.split(",", fields);
      if (row.length < fields) {
        throw unparseable(line);
      }
      for (int i = 0; i < fields; i++) {
        row[i] = row[i].strip();
      }
      rows.add(row);
    }
    return rows;
  }

  private static boolean isNumber(String field) {
    return field.matches("[0-9]{1,9}");
  }

  private static int number(String[] row, int field) throws GpuProbeException {
    if (!isNumber(row[field])) {
      throw unparseable(String.join(", ", row));
    }
    return Integer.parseInt(row[field]);
  }

  /** A number; what the driver does not say ("[N/A]", "[Not Supported]") counts as 0. */
  private static int orUnknown(String field) {
    return isNumber(field) ? Integer.parseInt(field) : 0;
  }

  private static GpuProbeException unparseable(String line) {
    return new GpuProbeException(
        "%s answered what cannot be read: '%s'; run it by hand".formatted(COMMAND, quoted(line)));
  }

  private static String quoted(String text) {
    String line = text.strip().lines().findFirst().orElse("it printed nothing");
    return line.length() <= QUOTED ? line : line.substring(0, QUOTED) + "…";
  }
}
