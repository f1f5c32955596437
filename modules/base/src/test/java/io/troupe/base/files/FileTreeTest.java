package io.troupe.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

  @Test
  void files_tree_areSorted_withoutFolders() throws IOException {
    Path root = tree(folder.resolve("tree"));
    assertThat(FileTree.files(root))
        .containsExactly(root.resolve("a/b/file"), root.resolve("file"));
    assertThat(FileTree.files(root, file -> file.equals(root.resolve("file"))))
        .containsExactly(root.resolve("file"));
    assertThatThrownBy(() -> FileTree.files(root.resolve("absent")))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void files_otherFilesGoMeanwhile_areLeftOut() throws IOException {
    List<Path> three = three();
    List<Path> first = new ArrayList<>();
    List<Path> found = FileTree.files(folder, file -> first(file, three, first).equals(file));
    assertThat(found).isEqualTo(first).hasSize(1);
  }

  @Test
  void files_wantedFileGoesMeanwhile_isSaid() throws IOException {
    List<Path> three = three();
    List<Path> first = new ArrayList<>();
    assertThatThrownBy(
            () -> FileTree.files(folder, file -> three.contains(first(file, three, first))))
        .isInstanceOf(NoSuchFileException.class);
  }

  private List<Path> three() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String name : List.of("one", "two", "three")) {
      files.add(Files.writeString(folder.resolve(name), name));
    }
    return files;
  }

  /** Returns the file that a look meets first; when it is met, the others are deleted. */
  private static Path first(Path file, List<Path> all, List<Path> first) {
    if (first.isEmpty()) {
      first.add(file);
      for (Path other : all) {
        assertThat(other.equals(file) || other.toFile().delete()).isTrue();
      }
    }
    return first.getFirst();
  }
}
