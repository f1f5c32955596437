package io.troupe.store.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.troupe.store.objects.ObjectStore;
import io.troupe.store.objects.ObjectStoreException;
import io.troupe.store.objects.ObjectStoreException.Kind;
import io.troupe.store.objects.PutCondition;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.FakeObjectStore.Fault;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Uploads to a server of this process, through Amazon's own client. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class S3BucketTest {
  private static final PutCondition ALWAYS = new PutCondition.Always();

  @TempDir private Path folder;

  private FakeObjectStore server;
  private S3Bucket bucket;

  @BeforeEach
  void start() throws IOException {
    server = FakeObjectStore.startWithKeys().bucket("lake");
    bucket = new S3Bucket(new S3Settings(server.endpoint(), "", true), "s3://lake/runs/one");
  }

  @AfterEach
  void stop() {
    bucket.close();
    server.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private String stored(String key) {
    return new String(server.objects().getOrDefault("lake/runs/one/" + key, new byte[0]), UTF_8);
  }

  @Test
  void put_object_isStoredAsItIs_andReadBack() throws IOException {
    bucket.put("a/b c.json", bytes("{}"), ALWAYS);

    assertThat(stored("a/b c.json")).isEqualTo("{}");
    assertThat(bucket.size("a/b c.json")).contains(2L);
    assertThat(bucket.read("a/b c.json").map(found -> new String(found.bytes(), UTF_8)))
        .contains("{}");
    assertThat(bucket.size("none")).isEmpty();
    assertThat(bucket.read("none")).isEmpty();
    bucket.download("a/b c.json", folder.resolve("x/y"));
    assertThat(folder.resolve("x/y")).hasContent("{}");
  }

  @Test
  void put_conditionThatDoesNotHold_storesNothing() throws IOException {
    String first = bucket.put("index", bytes("1"), new PutCondition.Absent());
    String second = bucket.put("index", bytes("2"), new PutCondition.Tagged(first));

    assertThat(conflict(new PutCondition.Absent()).kind()).isEqualTo(Kind.CONFLICT);
    assertThat(conflict(new PutCondition.Tagged(first)).kind()).isEqualTo(Kind.CONFLICT);
    assertThat(stored("index")).isEqualTo("2");
    assertThat(bucket.read("index").map(ObjectStore.Content::tag)).contains(second);
  }

  private ObjectStoreException conflict(PutCondition condition) {
    return catchThrowableOfType(
        ObjectStoreException.class, () -> bucket.put("index", bytes("3"), condition));
  }

  @Test
  void completeUpload_parts_makeOneObject() throws IOException {
    String upload = bucket.beginUpload("big");
    List<ObjectStore.PartTag> tags =
        List.of(
            bucket.putPart("big", upload, 1, bytes("aaa")),
            bucket.putPart("big", upload, 2, bytes("bb")));
    assertThat(server.objects()).isEmpty();

    bucket.completeUpload("big", upload, tags);

    assertThat(stored("big")).isEqualTo("aaabb");
    assertThatThrownBy(() -> bucket.putPart("big", upload, 3, bytes("c")))
        .isInstanceOf(ObjectStoreException.class)
        .hasMessage("s3://lake/runs/one/big: status 404 NoSuchUpload; it is not there");
    bucket.abortUpload("big", bucket.beginUpload("big"));
    bucket.abortUpload("big", upload);
    assertThat(server.openUploads()).isZero();
  }

  @Test
  void list_pagesAndFolders_areWhole() throws IOException {
    for (String key : List.of("a/1", "a/2", "a/3", "b/1", "c")) {
      bucket.put(key, bytes(key), ALWAYS);
    }
    bucket.delete("b/1");
    bucket.delete("b/1");

    assertThat(bucket.list("a/")).hasSize(3).contains(new ObjectStore.Entry("a/2", 3));
    assertThat(bucket.folders("")).containsExactly("a");
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"BROKEN_ONCE", "SKEWED_ONCE", "ANSWER_LOST_ONCE", "HTML_ONCE"})
  void put_serverThatFailsOnce_isAskedAgain(Fault fault) throws IOException {
    server.fail("lake/runs/one/a", fault);

    bucket.put("a", bytes("A"), ALWAYS);

    assertThat(stored("a")).isEqualTo("A");
  }

  @Test
  void put_bodyThatIsDamagedOnItsWay_isNoticedByItsChecksum() throws IOException {
    server.fail("lake/runs/one/a", Fault.DAMAGED_ONCE);

    assertThatThrownBy(() -> bucket.put("a", bytes("A"), ALWAYS))
        .hasMessageContaining("s3://lake/runs/one/a: ")
        .hasMessageContaining("was sent");
    bucket.put("a", bytes("A"), ALWAYS);

    assertThat(stored("a")).isEqualTo("A");
  }

  @Test
  void put_failures_sayWhetherToComeAgain() throws IOException {
    server.fail("lake/runs/one/slow", Fault.THROTTLED);
    server.fail("lake/runs/one/old", Fault.EXPIRED_ONCE);
    server.fail("lake/runs/one/closed", Fault.FORBIDDEN);

    assertThat(failure("slow").kind()).isEqualTo(Kind.UNAVAILABLE);
    assertThat(failure("old"))
        .hasMessageContaining("ExpiredToken; the credentials have expired, renew them")
        .extracting(ObjectStoreException::kind)
        .isEqualTo(Kind.EXPIRED);
    assertThat(failure("closed").kind()).isEqualTo(Kind.REFUSED);
    bucket.put("old", bytes("x"), ALWAYS);
    assertThat(bucket.size("old")).isEqualTo(Optional.of(1L));
  }

  private ObjectStoreException failure(String key) {
    return catchThrowableOfType(
        ObjectStoreException.class, () -> bucket.put(key, bytes("x"), ALWAYS));
  }
}
