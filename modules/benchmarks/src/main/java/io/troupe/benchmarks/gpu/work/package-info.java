/** The work of each row, ours and in plain PyTorch, in processes of their own. */
@NullMarked
package io.troupe.benchmarks.gpu.work;

import org.jspecify.annotations.NullMarked;
