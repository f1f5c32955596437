package io.troupe.aws.sagemaker;

import io.troupe.base.files.DurableFiles;
import io.troupe.base.files.FileTree;
import io.troupe.base.process.ExitCode;
import io.troupe.store.objects.ObjectStore;
import io.troupe.store.s3.S3Bucket;
import io.troupe.store.s3.S3Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe sagemaker download}: what a job left, as a folder. */
@Command(
    name = "download",
    mixinStandardHelpOptions = true,
    description = {
      "Fetches model.tar.gz and output.tar.gz of a job that has ended and unpacks them: the newest"
          + " policy into DIR/model, evaluations and the run's small files into DIR.",
      "The run itself, with checkpoints and journal, is fetched by troupe runs download; also while"
          + " the job is at work."
    })
final class DownloadJobCommand implements Callable<Integer> {
  /** The folder of each archive, below the command's folder. */
  private static final Map<String, String> ARCHIVES =
      Map.of("model.tar.gz", "model", "output.tar.gz", "");

  @Parameters(index = "0", paramLabel = "JOB", description = "Its name.")
  private String job = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      description = "A new folder (results/JOB).")
  private @Nullable Path output;

  @Option(
      names = "--from",
      paramLabel = "s3://…",
      description = "Folder of the archives, for a job that was not submitted from here.")
  private String from = "";

  @Option(
      names = "--s3-endpoint",
      paramLabel = "URL",
      description = "S3 server other than Amazon's, with the bucket in the path.")
  private String endpoint = "";

  @Option(names = "--dry-run", description = "Say what would be fetched; change nothing.")
  private boolean dryRun;

  @Mixin private SageMakerOptions options = new SageMakerOptions();

  @Override
  public Integer call() throws IOException {
    Optional<JobRecord> known = options.known(job);
    if (from.isEmpty() && known.isEmpty()) {
      throw options.bad(
          "job %s was not submitted from here; say --from s3://OUTPUT/%s/output"
              .formatted(job, job));
    }
    String place = from.isEmpty() ? known.map(each -> each.output().results()).orElse("") : from;
    Path target = (output == null ? Path.of("results", job) : output).toAbsolutePath().normalize();
    if (Files.exists(target)) {
      throw options.bad(
          "%s is there already; move it away, or choose another -o".formatted(target));
    }
    String region = known.map(JobRecord::region).orElse("");
    try (ObjectStore store =
        new S3Bucket(new S3Settings(endpoint, region, !endpoint.isEmpty()), place)) {
      List<ObjectStore.Entry> archives =
          store.list("").stream().filter(each -> ARCHIVES.containsKey(each.key())).toList();
      if (archives.isEmpty()) {
        throw new IOException(
            "%s has no archive yet; SageMaker writes them at the end of the job".formatted(place));
      }
      archives.forEach(
          each -> options.say("%s/%s, %d bytes".formatted(place, each.key(), each.bytes())));
      int files = dryRun ? 0 : fetch(store, archives, target);
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("job", job);
      answer.put("folder", target.toString());
      answer.put("files", files);
      known.ifPresent(each -> answer.put("runs", each.output().runs()));
      options.answer(
          dryRun
              ? "would unpack into " + target
              : "%d files in %s%s"
                  .formatted(
                      files,
                      target,
                      known
                          .map(each -> "; its run: troupe runs list " + each.output().runs())
                          .orElse("")),
          answer);
      return ExitCode.OK.code();
    }
  }

  /** The folder appears when it is whole. */
  private static int fetch(ObjectStore store, List<ObjectStore.Entry> archives, Path target)
      throws IOException {
    Path part = target.resolveSibling("." + target.getFileName() + ".part");
    FileTree.delete(part);
    Files.createDirectories(DurableFiles.parent(part));
    int files = 0;
    for (ObjectStore.Entry archive : archives) {
      Path packed = part.resolve(archive.key());
      store.download(archive.key(), packed);
      Path into = part.resolve("out").resolve(ARCHIVES.getOrDefault(archive.key(), ""));
      Files.createDirectories(into);
      files += TarArchive.unpack(packed, into);
      Files.delete(packed);
    }
    DurableFiles.rename(part.resolve("out"), target);
    FileTree.delete(part);
    return files;
  }
}
