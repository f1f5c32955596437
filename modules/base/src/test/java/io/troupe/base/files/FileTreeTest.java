package io.troupe.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileTreeTest {
  private final Path folder;

  FileTreeTest(@TempDir Path folder) {
    this.folder = folder;
  }

  private static Path tree(Path root) throws IOException {
    Files.createDirectories(root.resolve("a/b"));
    Files.writeString(root.resolve("a/b/file"), "text");
    Files.writeString(root.resolve("file"), "text");
    return root;
  }

  @Test
  void delete_tree_isGone() throws IOException {
    Path root = tree(folder.resolve("tree"));
    FileTree.delete(root);
    assertThat(root).doesNotExist();
  }

  @Test
  void delete_file_isGone() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "text");
    FileTree.delete(file);
    assertThat(file).doesNotExist();
  }

  @Test
  void delete_absent_isDeleted() {
    assertThatCode(() -> FileTree.delete(folder.resolve("absent"))).doesNotThrowAnyException();
  }

  @Test
  void delete_links_leavesWhatTheyLeadTo() throws IOException {
    Path kept = tree(folder.resolve("kept"));
    Path root = tree(folder.resolve("tree"));
    Files.createSymbolicLink(root.resolve("a/link"), kept);
    Path link = Files.createSymbolicLink(folder.resolve("link"), kept);
    FileTree.delete(root);
    FileTree.delete(link);
    assertThat(root).doesNotExist();
    assertThat(Files.isSymbolicLink(link)).isFalse();
    assertThat(kept.resolve("a/b/file")).hasContent("text");
  }

  @Test
  void replace_directory_isTheNewOne() throws IOException {
    Path target = tree(folder.resolve("target"));
    Path made = Files.createDirectory(folder.resolve("made"));
    Files.writeString(made.resolve("new"), "text");
    FileTree.replace(target, made);
    assertThat(made).doesNotExist();
    assertThat(target).isDirectoryContaining(path -> path.endsWith("new"));
    assertThat(target.resolve("a")).doesNotExist();
  }

  @Test
  void replace_byWhatIsAbsent_fails() {
    assertThatThrownBy(() -> FileTree.replace(folder.resolve("target"), folder.resolve("absent")))
        .isInstanceOf(NoSuchFileException.class);
  }
}
