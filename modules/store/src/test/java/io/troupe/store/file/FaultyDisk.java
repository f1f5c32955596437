package io.troupe.store.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A real disk with a limited number of free bytes, whose writes and fsyncs can be held up. */
public final class FaultyDisk implements ChannelOpener {
  private final AtomicLong free;
  private final Semaphore writes = new Semaphore(Integer.MAX_VALUE);
  private final AtomicInteger written = new AtomicInteger();
  private final AtomicInteger synced = new AtomicInteger();

  public FaultyDisk(long free) {
    this.free = new AtomicLong(free);
  }

  public static FaultyDisk unlimited() {
    return new FaultyDisk(Long.MAX_VALUE / 2);
  }

  /** Adds free space, in bytes. */
  void free(long bytes) {
    free.addAndGet(bytes);
  }

  /** Lets no write through until {@link #release}. */
  public void hold() {
    writes.drainPermits();
  }

  public void release() {
    writes.release(1 << 20);
  }

  public boolean writerWaits() {
    return writes.hasQueuedThreads();
  }

  public int writes() {
    return written.get();
  }

  public int fsyncs() {
    return synced.get();
  }

  @Override
  public FileChannel open(Path file, OpenOption... options) throws IOException {
    return new Channel(FileChannel.open(file, options));
  }

  private final class Channel extends FileChannel {
    private final FileChannel real;

    private Channel(FileChannel real) {
      this.real = real;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      writes.acquireUninterruptibly();
      written.incrementAndGet();
      int allowed = (int) Math.min(source.remaining(), free.get());
      if (allowed == 0 && source.hasRemaining()) {
        throw new IOException("No space left on device");
      }
      int limit = source.limit();
      source.limit(source.position() + allowed);
      int done = real.write(source);
      source.limit(limit);
      free.addAndGet(-done);
      return done;
    }

    @Override
    public void force(boolean metaData) throws IOException {
      synced.incrementAndGet();
      real.force(metaData);
    }

    @Override
    protected void implCloseChannel() throws IOException {
      real.close();
    }

    @Override
    public long size() throws IOException {
      return real.size();
    }

    @Override
    public long position() throws IOException {
      return real.position();
    }

    @Override
    public FileChannel position(long position) throws IOException {
      real.position(position);
      return this;
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
      real.truncate(size);
      return this;
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      real.position(position);
      return write(source);
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(ByteBuffer target) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int read(ByteBuffer target, long position) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }
  }
}
