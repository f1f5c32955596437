package io.troupe.aws.sagemaker;

import io.troupe.aws.container.ContainerFolders;
import io.troupe.aws.container.JobParameters;
import io.troupe.base.files.DurableFiles;
import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ProcessGroup;
import io.troupe.base.process.Signals;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A job on this machine: the same command as in the containers, with a folder in place of each
 * container's {@code /opt/ml}, and loopback addresses as the hosts.
 */
record LocalJob(SageMakerFile job, ResolvedConfig<RunConfig> run, Path folder) {
  private static final String ONLY = "algo-1";

  private List<String> hosts() {
    int count = job.machines().instanceCount();
    return count == 1
        ? List.of(ONLY)
        : IntStream.rangeClosed(1, count).mapToObj(i -> "127.0.0." + i).toList();
  }

  private ContainerFolders folders(String host) {
    return ContainerFolders.in(hosts().size() == 1 ? folder : folder.resolve(host));
  }

  /** The files of each host's contract, by name. */
  Map<String, Map<String, Object>> descriptions() {
    Map<String, Map<String, Object>> all = new LinkedHashMap<>();
    for (String host : hosts()) {
      Map<String, Object> resources = new LinkedHashMap<>();
      resources.put("current_host", host);
      resources.put("current_instance_type", "local");
      resources.put("hosts", hosts());
      resources.put("network_interface_name", "lo");
      Map<String, Object> channels = new TreeMap<>();
      job.run()
          .channels()
          .forEach(each -> channels.put(each.name(), Map.of("TrainingInputMode", "File")));
      Map<String, Object> files = new LinkedHashMap<>();
      files.put("resourceconfig.json", resources);
      files.put("hyperparameters.json", parameters(host));
      files.put("inputdataconfig.json", channels);
      all.put(host, files);
    }
    return all;
  }

  private Map<String, String> parameters(String host) {
    try {
      return new JobParameters(
              Files.readString(job.run().config()),
              JobConfiguration.of(job, run, folders(host).data(), _ -> false).assignments())
          .hyperparameters();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /**
   * Runs the hosts until all have ended. Their output is that of this process.
   *
   * @param errorsOnly whether standard output is for something else, so that theirs goes to
   *     standard error
   * @return exit codes by host
   */
  Map<String, Integer> run(boolean errorsOnly) throws IOException, InterruptedException {
    Map<String, ProcessGroup> started = new LinkedHashMap<>();
    for (Map.Entry<String, Map<String, Object>> host : descriptions().entrySet()) {
      ContainerFolders folders = folders(host.getKey());
      for (Map.Entry<String, Object> file : host.getValue().entrySet()) {
        Path target = folders.description(file.getKey());
        Files.createDirectories(DurableFiles.parent(target));
        Files.writeString(target, StoreJson.PRETTY.writeValueAsString(file.getValue()));
      }
      link(folders.data());
      started.put(host.getKey(), start(folders, errorsOnly));
    }
    var _ =
        Signals.install(
            number -> started.values().forEach(host -> host.signal(number)),
            _ -> started.values().forEach(ProcessGroup::kill));
    List<Thread> printers =
        errorsOnly ? started.values().stream().map(LocalJob::printErrors).toList() : List.of();
    Map<String, Integer> codes = new LinkedHashMap<>();
    for (Map.Entry<String, ProcessGroup> host : started.entrySet()) {
      codes.put(host.getKey(), host.getValue().leader().waitFor());
    }
    for (Thread printer : printers) {
      printer.join();
    }
    return codes;
  }

  private static Thread printErrors(ProcessGroup host) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try (InputStream lines = host.output()) {
                lines.transferTo(System.err);
              } catch (IOException broken) {
                throw new UncheckedIOException(broken);
              }
            });
  }

  private void link(Path data) throws IOException {
    Files.createDirectories(data);
    for (SageMakerFile.DataChannel channel : job.run().channels()) {
      Path source = Path.of(channel.source()).toAbsolutePath();
      Path link = data.resolve(channel.name());
      if (!Files.isDirectory(source)) {
        throw new IOException(
            "channel %s: with --local its source is a folder of this machine, and %s is none; say --set 'channels[0].source=FOLDER'"
                .formatted(channel.name(), channel.source()));
      }
      Files.deleteIfExists(link);
      Files.createSymbolicLink(link, source);
    }
  }

  private ProcessGroup start(ContainerFolders folders, boolean errorsOnly) throws IOException {
    List<String> command =
        new ArrayList<>(ChildJvm.command((int) (Runtime.getRuntime().maxMemory() >> 20)));
    command.addAll(List.of("sagemaker", "enter"));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(
                errorsOnly ? ProcessBuilder.Redirect.PIPE : ProcessBuilder.Redirect.INHERIT)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(ChildJvm.environment());
    builder.environment().putAll(TrainingJobPlan.variables(job));
    builder.environment().put(ContainerFolders.BASE, folders.base().toString());
    return ProcessGroup.start(builder);
  }
}
