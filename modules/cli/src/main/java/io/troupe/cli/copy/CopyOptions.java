package io.troupe.cli.copy;

import io.troupe.store.objects.ObjectStore;
import io.troupe.store.s3.S3Bucket;
import io.troupe.store.s3.S3Settings;
import picocli.CommandLine.Option;

/** The options by which a command reaches the copies of runs on S3. */
public final class CopyOptions {
  @Option(
      names = "--s3-endpoint",
      paramLabel = "URL",
      description = "S3 server other than Amazon's, such as http://localhost:9000.")
  private String endpoint = "";

  @Option(
      names = "--s3-region",
      paramLabel = "REGION",
      description = "Region of the bucket; otherwise as the environment says.")
  private String region = "";

  @Option(
      names = "--s3-path-style",
      description = "The bucket is in the path of addresses, as MinIO and its like need it.")
  private boolean pathStyle;

  /** Returns the settings that the options name. */
  S3Settings settings() {
    return new S3Settings(endpoint, region, pathStyle);
  }

  /** A place on S3, ending with a slash. */
  static String folder(String place) {
    return place.endsWith("/") ? place : place + "/";
  }

  /** The store below a place, which its caller closes. */
  ObjectStore open(String place) {
    return new S3Bucket(settings(), place);
  }
}
