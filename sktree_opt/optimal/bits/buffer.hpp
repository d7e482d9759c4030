// Memory of the search: aligned for the widest vectors, and booked with the fit's SearchControl.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "sktree_opt/utils/control.hpp"

namespace sktree_opt {

// An array that only grows; its content is lost when it does.
template <class T>
class Buffer {
public:
    explicit Buffer(SearchControl* control = nullptr) : control_(control) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { release(); }

    void attach(SearchControl* control) { control_ = control; }

    T* need(std::size_t size) {
        if (size > capacity_) {
            release();
            const std::size_t capacity = size + size / 4 + 64 / sizeof(T) + 1;
            data_ = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(64)));
            capacity_ = capacity;
            if (control_ != nullptr) control_->reserve(bytes());
        }
        return data_;
    }
    T* zeros(std::size_t size) {
        need(size);
        if (size > 0) std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
        return data_;
    }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t k) { return data_[k]; }
    const T& operator[](std::size_t k) const { return data_[k]; }

private:
    std::int64_t bytes() const { return static_cast<std::int64_t>(capacity_ * sizeof(T)); }
    void release() {
        if (data_ == nullptr) return;
        ::operator delete(data_, std::align_val_t(64));
        if (control_ != nullptr) control_->reserve(-bytes());
        data_ = nullptr;
        capacity_ = 0;
    }
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        std::swap(control_, other.control_);
    }

    T* data_ = nullptr;
    std::size_t capacity_ = 0;
    SearchControl* control_ = nullptr;
};

}  // namespace sktree_opt
