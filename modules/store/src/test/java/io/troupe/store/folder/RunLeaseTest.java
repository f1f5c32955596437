package io.troupe.store.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunLeaseTest {
  private final RunFolder run;

  RunLeaseTest(@TempDir Path folder) throws IOException {
    this.run =
        RunFolder.create(
            folder,
            "run",
            LocalDateTime.of(2026, 1, 1, 0, 0),
            new RunFolder.Contents(new byte[0], "", Map.of(), ""));
  }

  private Path holder() {
    return run.path().resolve("cluster").resolve("lease-holder");
  }

  @Test
  void take_lease_isHeldByOneAtATimeAndSaysByWhom() throws IOException {
    try (RunLease lease = new RunLease(run, "node1:1");
        RunLease other = new RunLease(run, "node2:1")) {
      assertThat(lease.take()).isTrue();
      assertThat(lease.confirm()).isTrue();
      assertThat(other.take()).isFalse();
      assertThat(other.confirm()).isFalse();
      assertThat(other.holder())
          .isEqualTo("process %d at node1:1".formatted(ProcessHandle.current().pid()));
    }
  }

  @Test
  void confirm_leaseThatTheFileSystemGaveToAnother_isLostForGood() throws IOException {
    try (RunLease lease = new RunLease(run, "node1:1")) {
      assertThat(lease.take()).isTrue();
      Files.writeString(holder(), "process 7 at node2:1\n");
      assertThat(lease.held()).isTrue();
      assertThat(lease.confirm()).isFalse();
      assertThat(lease.held()).isFalse();
      assertThat(lease.take()).isFalse();
      assertThat(lease.holder()).isEqualTo("process 7 at node2:1");
    }
  }

  @Test
  void confirm_signatureOfThisVeryProcessWithAnotherLease_isLost() throws IOException {
    RunLease earlier = new RunLease(run, "node1:1");
    assertThat(earlier.take()).isTrue();
    String signature = Files.readString(holder());
    earlier.close();
    try (RunLease lease = new RunLease(run, "node1:1")) {
      assertThat(lease.take()).isTrue();
      Files.writeString(holder(), signature);
      assertThat(lease.confirm()).isFalse();
    }
  }

  @Test
  void confirm_signatureThatCannotBeRead_tellsNothing() throws IOException {
    try (RunLease lease = new RunLease(run, "node1:1")) {
      assertThat(lease.take()).isTrue();
      Files.delete(holder());
      assertThatThrownBy(lease::confirm).isInstanceOf(IOException.class);
      assertThat(lease.held()).isTrue();
    }
  }
}
