package io.troupe.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.store.s3.S3Settings;
import java.time.Duration;

/** The place to which a run is copied while it continues. */
public record SyncKeys(
    @Doc(
            "Folder on S3, such as `s3://bucket/runs`, that gets a copy of the run folder while"
                + " the run is at work; empty means none. Credentials are found as Amazon's tools"
                + " find them; docs/aws.md has the rest.")
        @Default("")
        String sync,
    @Doc("How often what has grown is copied.") @Default("30s") @Range(min = 0.1)
        Duration syncEvery,
    @Doc(value = "Most that the copy sends, over some seconds; 0 for no bound.", unit = "MiB/s")
        @Default("0")
        @Range(min = 0, max = 1_000_000)
        int syncBandwidth,
    @Doc("How long the end of the run waits until everything is copied.")
        @Default("2m")
        @Range(min = 0)
        Duration syncAtEnd,
    @Doc("Address of an S3 server other than Amazon's, such as `http://localhost:9000`.")
        @Default("")
        String syncEndpoint,
    @Doc("Region of S3; empty means what the environment says, else the bucket's own.") @Default("")
        String syncRegion,
    @Doc("Whether the bucket is in the path of addresses, as MinIO and its like need it.")
        @Default("false")
        boolean syncPathStyle)
    implements Validated {
  private static final long MIB = 1L << 20;

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("sync")
        .require(
            () -> sync.isEmpty() || sync.matches("s3://[^/]+(/.*)?"),
            "must be an address on S3",
            "write s3://bucket/folder");
    rules
        .on("sync_endpoint")
        .require(
            () -> syncEndpoint.isEmpty() || syncEndpoint.matches("https?://[^/\\s]+(/.*)?"),
            "must be an address",
            "write for example http://localhost:9000");
  }

  /** Returns the settings of the S3 client. */
  public S3Settings settings() {
    return new S3Settings(syncEndpoint, syncRegion, syncPathStyle);
  }

  /** Most bytes a second; 0 for no bound. */
  public long bytesPerSecond() {
    return syncBandwidth * MIB;
  }
}
