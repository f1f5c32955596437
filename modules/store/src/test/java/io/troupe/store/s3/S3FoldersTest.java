package io.troupe.store.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** Downloads from a server of this process, through Amazon's own client. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class S3FoldersTest {
  @TempDir private Path folder;

  @AutoClose private FakeObjectStore server;

  @BeforeEach
  void start() throws IOException {
    server = FakeObjectStore.startWithKeys();
  }

  private S3Folders folders() {
    return new S3Folders(new S3Settings(server.endpoint(), "", true));
  }

  @Test
  void download_folderOfManyPages_bringsItsFilesAndNoOthers() throws IOException {
    server
        .put("lake/sets/own_train/", "")
        .put("lake/sets/own_train/a b.jsonl", "A")
        .put("lake/sets/own_train/data/1.jsonl", "BB")
        .put("lake/sets/own_train/data/2.jsonl", "")
        .put("lake/sets/own_train/data/ü+%.jsonl", "DDD")
        .put("lake/sets/own_training/other.jsonl", "no");

    assertThat(folders().download("s3://lake/sets/own_train", folder)).isEqualTo(4);

    assertThat(folder.resolve("a b.jsonl")).hasContent("A");
    assertThat(folder.resolve("data/1.jsonl")).hasContent("BB");
    assertThat(folder.resolve("data/2.jsonl")).isEmptyFile();
    assertThat(folder.resolve("data/ü+%.jsonl")).hasContent("DDD");
    assertThat(folder.resolve("other.jsonl")).doesNotExist();
    assertThat(server.requests()).allMatch(request -> request.endsWith(" tester"));
    assertThat(server.requests().getFirst()).startsWith("GET /lake?").contains("list-type=2");
  }

  @Test
  void download_folderThatIsNotThere_bringsNothing() throws IOException {
    server.put("lake/other", "x");

    assertThat(folders().download("s3://lake/sets/own_train", folder)).isZero();
  }

  @Test
  void download_serverThatFailsOnce_isAskedAgain() throws IOException {
    server.put("lake/s/a", "A").fail("lake/s/a", Fault.BROKEN_ONCE);

    assertThat(folders().download("s3://lake/s", folder)).isEqualTo(1);

    assertThat(folder.resolve("a")).hasContent("A");
  }

  @Test
  void download_refusals_sayWhatAndWhatToDo() {
    server.put("closed/s/a", "A").fail("closed", Fault.FORBIDDEN);
    server.put("broken/s/a", "A").fail("broken", Fault.BROKEN);

    assertThatThrownBy(() -> folders().download("s3://closed/s", folder))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "s3://closed/s/: status 403 AccessDenied; the credentials do not open it"
                + " (AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)");
    assertThatThrownBy(() -> folders().download("s3://missing/s", folder))
        .hasMessage(
            "s3://missing/s/: status 404 NoSuchBucket; the bucket is not there, create it or correct its name");
    assertThatThrownBy(() -> folders().download("s3://broken/s", folder))
        .hasMessage("s3://broken/s/: status 500 InternalError");
  }

  @Test
  void download_bodyThatIsCut_isNoFile() {
    server.put("lake/s/a", "A".repeat(100_000)).fail("lake/s/a", Fault.CUT);

    assertThatThrownBy(() -> folders().download("s3://lake/s", folder))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("s3://lake/s/: ");
    assertThat(folder.resolve("a")).doesNotExist();
  }

  @Test
  void download_nameThatLeadsOut_isRefused() {
    server.put("lake/s/../../evil", "x");

    assertThatThrownBy(() -> folders().download("s3://lake/s", folder))
        .hasMessage("s3://lake/s/: the name ../../evil leads out of its folder");
  }

  @Test
  void read_object_givesItsBytes_orSaysWhyNot() throws IOException {
    server.put("lake/order.txt", "a\nb\n");

    assertThat(new String(folders().read("s3://lake/order.txt"), StandardCharsets.UTF_8))
        .isEqualTo("a\nb\n");
    assertThatThrownBy(() -> folders().read("s3://lake/none.txt"))
        .hasMessage("s3://lake/none.txt: status 404 NoSuchKey; it is not there");
  }

  @Test
  void settings_andAddresses_thatAreNone_areRefused() {
    assertThatThrownBy(() -> new S3Settings("localhost:9000", "", true))
        .hasMessageContaining("such as http://localhost:9000, not localhost:9000");
    assertThatThrownBy(() -> S3Address.parse("s3:///key")).hasMessageContaining("names a bucket");
    assertThatThrownBy(() -> S3Address.parse("/tmp/x")).hasMessageContaining("s3://bucket/key");
  }
}
